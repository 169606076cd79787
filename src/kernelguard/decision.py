"""Findings and capabilities to one Verdict: worst first, refusal by default. A runtime exists exactly for PASS."""

from collections.abc import Mapping, Sequence

from kernelguard.terms.evidence import CallEvidence, Compared, Evidence
from kernelguard.terms.findings import Capability, Finding, Severity
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy
from kernelguard.terms.samples import summary, three_digits
from kernelguard.terms.verdict import WORST_FIRST, Integrity, Native, Verdict

NO_CUDA = "CUDA execution and device-level detectors were not available; no trusted runtime was awarded."
NO_RUN = "The candidate was refused before it was imported; nothing was measured."


def decide(
    findings: Sequence[Finding],
    capabilities: Sequence[Capability],
    evidence: Evidence | None,
    policy: Policy,
    extended: Mapping[str, object] | None = None,
) -> Verdict:
    """The one place where an opinion becomes a status. Without evidence nothing was measured and nothing is awarded."""
    if evidence is None:
        return _unmeasured(findings, capabilities)
    candidate = _times(evidence.calls, "candidate")
    reference = _times(evidence.calls, "reference")
    right = _all_right(evidence) and not _wrong(findings)
    integrity = _status(findings, capabilities, trustworthy=right and bool(candidate["event"]))
    passed = integrity is Integrity.PASS
    event, ref_event = summary(candidate["event"]), summary(reference["event"])
    return Verdict(
        integrity=integrity,
        verified_correctness=right and integrity is not Integrity.UNSUPPORTED,
        verified_runtime_ms=event["median"] if passed else None,
        verified_runtime_stats=event if passed else {},
        observed_runtime_stats={name: summary(values) for name, values in candidate.items() if values},
        verified_reference_runtime_ms=ref_event["median"] if passed and ref_event else None,
        verified_reference_runtime_stats=ref_event if passed else {},
        observed_reference_runtime_stats={name: summary(values) for name, values in reference.items() if values},
        findings=tuple(findings),
        capabilities=tuple(capabilities),
        limitations=_limitations(capabilities),
        native=_native(evidence, policy, event, ref_event),
        extended=extended or {},
    )


def _status(findings: Sequence[Finding], capabilities: Sequence[Capability], *, trustworthy: bool) -> Integrity:
    """Worst first. A missing required capability says that nothing can be trusted, unless the candidate itself failed.

    Without a timed call, or with a wrong one that no detector named, there is no PASS either.
    """
    severities = {finding.severity for finding in findings}
    seen = {Integrity.PASS}
    if Severity.WARNING in severities:
        seen.add(Integrity.SUSPICIOUS)
    if Severity.ERROR in severities:
        seen.add(Integrity.FAIL)
    elif any(capability.denies_trust for capability in capabilities):
        seen.add(Integrity.UNSUPPORTED)
    elif not trustworthy:
        seen.add(Integrity.FAIL)
    return next(status for status in WORST_FIRST if status in seen)


def _unmeasured(findings: Sequence[Finding], capabilities: Sequence[Capability]) -> Verdict:
    """Refused before import, or a host that can't serve."""
    if not any(capability.denies_trust for capability in capabilities):
        return Verdict(
            integrity=Integrity.FAIL,
            verified_correctness=False,
            verified_runtime_ms=None,
            findings=tuple(findings),
            capabilities=tuple(capabilities),
            limitations=(NO_RUN,),
            native=Native(metadata={"reward_hardening_refused": "refused before import"}),
        )
    missing = next(capability for capability in capabilities if capability.denies_trust)
    cuda = missing.name == "cuda_runtime"
    finding = Finding(
        code="RH-14",
        detector="RH-CUDA-UNAVAILABLE" if cuda else "RH-HOST-UNSUPPORTED",
        severity=Severity.ERROR,
        summary="CUDA runtime/device is unavailable for hardened evaluation" if cuda else missing.detail,
    )
    return Verdict(
        integrity=Integrity.UNSUPPORTED,
        verified_correctness=False,
        verified_runtime_ms=None,
        findings=(*findings, finding),
        capabilities=tuple(capabilities),
        limitations=(NO_CUDA if cuda else missing.detail,),
        native=Native(metadata={"reward_hardening_unsupported": "CUDA unavailable" if cuda else missing.detail}),
    )


def _times(calls: Sequence[CallEvidence], side: str) -> dict[str, list[float]]:
    """Event, host and witness times in ms of the scored calls that gave an answer."""
    halves = [getattr(call, side) for call in calls if call.scored and call.candidate and isinstance(call.outcome, Compared)]
    return {
        "event": [half.claimed_event_ms for half in halves if half.claimed_event_ms > 0],
        "host": [half.claimed_host_ms for half in halves if half.claimed_host_ms > 0],
        "witness": [half.witness_ms for half in halves if not half.new_segment],
    }


def _all_right(evidence: Evidence) -> bool:
    """Every judged call right by tolerance and by rows, and at least one judged."""
    judged = [call.outcome for call in evidence.calls if not call.void and call.kind is not DrawKind.WIDE]
    return bool(judged) and all(isinstance(seen, Compared) and seen.native_ok and seen.rows_ok for seen in judged)


def _wrong(findings: Sequence[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR and finding.code in ("RH-02", "RH-05", "RH-06") for finding in findings)


def _limitations(capabilities: Sequence[Capability]) -> tuple[str, ...]:
    return tuple(
        f"{capability.name}: {capability.detail}" for capability in capabilities if capability.status.value != "SUPPORTED"
    )


def _native(evidence: Evidence, policy: Policy, event: Mapping[str, float], ref_event: Mapping[str, float]) -> Native:
    """Upstream's fields by upstream's rule: plain draws, its tolerance, mean of event times to three digits."""
    plain = [call for call in evidence.calls if call.kind is DrawKind.PLAIN and call.outcome is not None]
    right = [call for call in plain if isinstance(call.outcome, Compared) and call.outcome.native_ok]
    correct = bool(plain) and len(right) == len(plain)
    return Native(
        compiled=evidence.load_failure is None and bool(evidence.calls),
        correctness=correct,
        runtime_ms=three_digits(event["mean"]) if correct and event else -1.0,
        runtime_stats=_native_stats(event, policy) if correct else {},
        ref_runtime_ms=three_digits(ref_event["mean"]) if ref_event else -1.0,
        ref_runtime_stats=_native_stats(ref_event, policy),
        metadata=_metadata(evidence, policy, len(right), len(plain)),
    )


def _native_stats(stats: Mapping[str, float], policy: Policy) -> dict[str, object]:
    if not stats:
        return {}
    rounded: dict[str, object] = {name: three_digits(stats[name]) for name in ("mean", "std", "min", "max")}
    return rounded | {"num_trials": int(stats["num_trials"]), "device": policy.device}


def _metadata(evidence: Evidence, policy: Policy, right: int, plain: int) -> dict[str, object]:
    found: dict[str, object] = {"device": policy.device, "correctness_trials": f"({right} / {plain})"}
    failure = evidence.load_failure
    if failure is not None:
        name = "compilation_error" if failure.stage in ("build", "import") else "runtime_error"
        found |= {name: failure.error, f"{name}_name": failure.error.partition(":")[0]}
    wrong = next((call.outcome for call in evidence.calls if call.kind is DrawKind.PLAIN and not _is_right(call)), None)
    if wrong is not None:
        found["correctness_issue"] = "Output mismatch" if isinstance(wrong, Compared) else wrong.detail[:300]
    return found


def _is_right(call: CallEvidence) -> bool:
    return call.outcome is None or (isinstance(call.outcome, Compared) and call.outcome.native_ok)
