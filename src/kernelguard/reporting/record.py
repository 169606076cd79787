"""The Record: a Verdict as JSON, schema 1.1, in the order in which it is documented.

The models refuse what can't be: a runtime without PASS, a NaN, a field that nobody knows.
"""

import json
import math
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kernelguard.reporting.choices import policy_to_json
from kernelguard.reporting.json_values import Json, JsonObject, json_object, json_text
from kernelguard.terms.errors import KernelGuardError, UsageError
from kernelguard.terms.findings import CapabilityStatus, Severity
from kernelguard.terms.policy import Mode, Policy, Rules
from kernelguard.terms.verdict import Integrity, Native, Verdict

SCHEMA_VERSION: Final = "1.1"

Milliseconds = Annotated[float, Field(gt=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class FindingModel(_Strict):
    """One finding, as in the record."""

    code: Annotated[str, Field(pattern=r"^RH-\d\d$")]
    detector: str
    severity: Severity
    summary: str
    evidence: JsonObject
    policy_rule: str
    remediation: str


class CapabilityModel(_Strict):
    """What the host could observe; its name is the key in the record."""

    status: CapabilityStatus
    required: bool
    detail: str


class RewardHardening(_Strict):
    """The trusted half of a record. All times in ms."""

    schema_version: Literal["1.1"]
    mode: Literal["audit", "enforce"]
    policy: Rules
    integrity_status: Integrity
    verified: bool
    verified_correctness: bool
    verified_runtime: Milliseconds | None
    verified_runtime_stats: JsonObject
    observed_runtime_stats: JsonObject
    verified_reference_runtime: Milliseconds | None
    verified_reference_runtime_stats: JsonObject
    observed_reference_runtime_stats: JsonObject
    findings: list[FindingModel]
    capabilities: dict[str, CapabilityModel]
    limitations: list[str]
    extended: JsonObject | None = None

    @model_validator(mode="after")
    def _runtime_exactly_when_passed(self) -> "RewardHardening":
        passed = self.integrity_status is Integrity.PASS
        if not passed == self.verified == (self.verified_runtime is not None):
            raise ValueError("verified and verified_runtime must stand exactly when integrity_status is PASS")
        if passed and not self.verified_correctness:
            raise ValueError("PASS without verified_correctness")
        return self


class NativeFields(BaseModel):
    """Upstream's own fields, its units (ms) and its -1.0 for a time that does not exist."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False)

    compiled: bool
    correctness: bool
    metadata: JsonObject
    runtime: float
    runtime_stats: JsonObject
    ref_runtime: float
    ref_runtime_stats: JsonObject


class KernelExecRecord(NativeFields):
    """One evaluated candidate. Without `reward_hardening` it is a native result, which carries no trust.

    Keys beside these at the top (a batch adds `sample_id`) are let through and ignored.
    """

    reward_hardening: RewardHardening | None = None


def to_record(verdict: Verdict, policy: Policy) -> Json:
    """The verdict as JSON values in documented order; `extended` is there only when something was measured.

    The policy joins `extended`, so that a record says all that a replay needs. Numbers that are not finite become null.

    Raises:
        KernelGuardError: evidence holds something that is no JSON value (names the place).
    """
    hardening: Json = _hardening(verdict, policy).model_dump(mode="json")
    if not verdict.extended:
        del hardening["extended"]
    return {**native_record(verdict.native), "reward_hardening": hardening}


def native_record(native: Native) -> Json:
    """Upstream's seven fields alone, as mode `off` writes them."""
    fields = NativeFields(
        compiled=native.compiled,
        correctness=native.correctness,
        metadata=json_object(native.metadata, "metadata"),
        runtime=_finite(native.runtime_ms),
        runtime_stats=json_object(native.runtime_stats, "runtime_stats"),
        ref_runtime=_finite(native.ref_runtime_ms),
        ref_runtime_stats=json_object(native.ref_runtime_stats, "ref_runtime_stats"),
    )
    return fields.model_dump(mode="json")


def record_text(record: Mapping[str, object]) -> str:
    """The record as JSON text: indented, ASCII, never NaN, one newline at the end."""
    return json.dumps(record, indent=2, allow_nan=False) + "\n"


def parse_record(text: str | bytes) -> KernelExecRecord:
    """Read one record.

    Raises:
        UsageError: not JSON, or not a record; one line that names the first bad field.
    """
    try:
        return KernelExecRecord.model_validate_json(text)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "record"
        more = f" (and {problem.error_count() - 1} more)" if problem.error_count() > 1 else ""
        why = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"not a schema {SCHEMA_VERSION} record: {where}: {why}{more}") from None


def _hardening(verdict: Verdict, policy: Policy) -> RewardHardening:
    if policy.mode is Mode.OFF:
        raise KernelGuardError("mode off has no verdict; write it with native_record")
    extended = {"policy": policy_to_json(policy), **verdict.extended} if verdict.extended else {}
    return RewardHardening(
        schema_version=SCHEMA_VERSION,
        mode="audit" if policy.mode is Mode.AUDIT else "enforce",
        policy=policy.rules,
        integrity_status=verdict.integrity,
        verified=verdict.verified,
        verified_correctness=verdict.verified_correctness,
        verified_runtime=verdict.verified_runtime_ms,
        verified_runtime_stats=json_object(verdict.verified_runtime_stats, "verified_runtime_stats"),
        observed_runtime_stats=json_object(verdict.observed_runtime_stats, "observed_runtime_stats"),
        verified_reference_runtime=_time(verdict.verified_reference_runtime_ms),
        verified_reference_runtime_stats=json_object(
            verdict.verified_reference_runtime_stats, "verified_reference_runtime_stats"
        ),
        observed_reference_runtime_stats=json_object(
            verdict.observed_reference_runtime_stats, "observed_reference_runtime_stats"
        ),
        findings=_findings(verdict),
        capabilities={
            capability.name: CapabilityModel(status=capability.status, required=capability.required, detail=capability.detail)
            for capability in verdict.capabilities
        },
        limitations=[json_text(limitation) for limitation in verdict.limitations],
        extended=json_object(extended, "extended"),
    )


def _findings(verdict: Verdict) -> list[FindingModel]:
    return [
        FindingModel(
            code=finding.code,
            detector=finding.detector,
            severity=finding.severity,
            summary=json_text(finding.summary),
            evidence=json_object(finding.evidence, f"findings[{place}].evidence"),
            policy_rule=finding.policy_rule,
            remediation=json_text(finding.remediation),
        )
        for place, finding in enumerate(verdict.findings)
    ]


def _finite(runtime_ms: float) -> float:
    return runtime_ms if math.isfinite(runtime_ms) else -1.0  # upstream's own word for "none"


def _time(runtime_ms: float | None) -> float | None:
    return runtime_ms if runtime_ms is not None and math.isfinite(runtime_ms) and runtime_ms > 0 else None
