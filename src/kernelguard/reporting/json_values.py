"""Python values as JSON values: what JSON can't say as a number is null, what it can't say at all is our fault."""

import json
import math
from collections.abc import Mapping
from enum import Enum
from typing import Annotated

from pydantic import AfterValidator, JsonValue

from kernelguard.terms.errors import KernelGuardError

DEEPEST = 32  # levels of nesting in evidence; more is a mistake, or somebody's attack on a reader

Json = dict[str, JsonValue]


def _refuse_nan(values: Json) -> Json:
    json.dumps(values, allow_nan=False)  # ValueError, which pydantic reports: its own JSON reader lets NaN and Infinity through
    return values


JsonObject = Annotated[Json, AfterValidator(_refuse_nan)]
"""A JSON object as a model's field: any keys, but no NaN and no infinity at any depth."""


def json_object(values: Mapping[str, object], where: str) -> Json:
    """`values` with JSON's own types all the way down; `where` is its place in the record, for the error.

    Raises:
        KernelGuardError: a value that JSON has no word for, or nesting deeper than 32.
    """
    return {json_text(str(name)): _json(value, f"{where}.{name}", 0) for name, value in values.items()}


def json_text(text: str) -> str:
    """`text` without lone surrogates, which are no Unicode text and which strict JSON readers refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _json(value: object, where: str, depth: int) -> JsonValue:
    if depth > DEEPEST:
        raise KernelGuardError(f"record: {where} is nested more than {DEEPEST} deep")
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case str():
            return json_text(value)
        case Enum():
            return _json(value.value, where, depth + 1)
        case Mapping():
            return {json_text(str(name)): _json(inner, f"{where}.{name}", depth + 1) for name, inner in value.items()}
        case list() | tuple():
            return [_json(inner, f"{where}[{place}]", depth + 1) for place, inner in enumerate(value)]
        case _:
            raise KernelGuardError(f"record: {where} is a {type(value).__name__}, which JSON has no word for")
