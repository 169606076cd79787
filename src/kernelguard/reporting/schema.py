"""The JSON Schema of a record, generated from the models; `record.schema.json` beside this file is its committed text."""

import json

from pydantic import JsonValue

from kernelguard.reporting.record import KernelExecRecord

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def record_schema() -> dict[str, JsonValue]:
    """Draft 2020-12 schema of one record, the same text from every release of the generator that we support."""
    schema: dict[str, JsonValue] = KernelExecRecord.model_json_schema(mode="validation")
    body = {name: _bare(value) for name, value in schema.items()}
    return {"$schema": DIALECT, **body, "title": "KernelGuard record 1.1"}


def schema_text() -> str:
    """What `record.schema.json` must hold."""
    return json.dumps(record_schema(), indent=2, sort_keys=True) + "\n"


def _bare(value: JsonValue) -> JsonValue:
    """Without titles, and without what releases of the generator spell in different ways."""
    if isinstance(value, list):
        return [_bare(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _bare(inner) for name, inner in value.items() if not (name == "title" and isinstance(inner, str))}
    if kept.get("additionalProperties") is True:
        del kept["additionalProperties"]
    if kept.get("enum") == [kept.get("const")]:
        del kept["enum"]
    return kept
