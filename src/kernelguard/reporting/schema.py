"""The JSON Schema of a record, generated from the models; `record.schema.json` beside this file is its committed text."""

import json

from pydantic import JsonValue

from kernelguard.reporting.record import KernelExecRecord

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def record_schema() -> dict[str, JsonValue]:
    """Draft 2020-12 schema of one record. Without the generated titles, which only repeat the names."""
    schema: dict[str, JsonValue] = KernelExecRecord.model_json_schema(mode="validation")
    bare = {name: _without_titles(value) for name, value in schema.items()}
    return {"$schema": DIALECT, **bare, "title": "KernelGuard record 1.1"}


def schema_text() -> str:
    """What `record.schema.json` must hold."""
    return json.dumps(record_schema(), indent=2, sort_keys=True) + "\n"


def _without_titles(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_without_titles(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {name: _without_titles(inner) for name, inner in value.items() if not _is_noise(name, inner)}


def _is_noise(name: str, value: JsonValue) -> bool:
    """A title, or `additionalProperties: true`, which newer generators write and which means nothing."""
    return (name == "title" and isinstance(value, str)) or (name == "additionalProperties" and value is True)
