"""A Policy as JSON and back, so that a record says under which terms it came about."""

from collections.abc import Mapping
from dataclasses import fields

from pydantic import JsonValue, TypeAdapter, ValidationError

from kernelguard.terms.errors import UsageError
from kernelguard.terms.policy import Policy

_POLICY = TypeAdapter(Policy)
_SECRET = "plan_seed"  # noqa: S105 - a field's name; the seed itself stands once in a record, in extended.plan


def policy_to_json(policy: Policy) -> dict[str, JsonValue]:
    """Every choice of the operator by its field name, without the plan's seed."""
    choices: dict[str, JsonValue] = _POLICY.dump_python(policy, mode="json")
    choices.pop(_SECRET, None)
    return choices


def policy_from_json(choices: Mapping[str, object]) -> Policy:
    """The Policy that `policy_to_json` wrote.

    Raises:
        UsageError: a choice is missing its type, out of range, or unknown to this version.
    """
    unknown = sorted(set(choices) - {field.name for field in fields(Policy)})
    if unknown:
        raise UsageError(f"the record's policy has {unknown[0]!r}, which this version does not know")
    try:
        return _POLICY.validate_python(dict(choices))
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        raise UsageError(f"the record's policy: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
