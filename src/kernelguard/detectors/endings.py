"""How the worker ended, and whether all calls were made (RH-08, RH-12, RH-14, RH-16)."""

from collections.abc import Iterator

from kernelguard.terms.evidence import Evidence, Side, StopCause, WorkerEnd
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Policy

_CODES = {
    StopCause.DIED: "RH-14",
    StopCause.TIMEOUT: "RH-14",
    StopCause.LOG_FLOOD: "RH-16",
    StopCause.REPLY_TOO_LONG: "RH-16",
    StopCause.PROCESSES: "RH-16",
    StopCause.GPU_MEMORY: "RH-16",
    StopCause.PROTOCOL: "RH-08",
}
_WORDS = {
    StopCause.DIED: "The candidate's process ended by itself",
    StopCause.TIMEOUT: "The candidate did not answer in time",
    StopCause.LOG_FLOOD: "The candidate wrote too much output",
    StopCause.REPLY_TOO_LONG: "The candidate's process sent a reply that is too long",
    StopCause.PROCESSES: "The candidate started too many processes",
    StopCause.GPU_MEMORY: "The candidate used too much device memory",
    StopCause.PROTOCOL: "The candidate's process broke the protocol",
}
_DENIED = ("PermissionError", "Network is unreachable", "Operation not permitted")


def detect(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    """Every early end is a finding, and so is a plan that was not put in full."""
    del policy
    ends = [end for end in evidence.ends if end.side is Side.CANDIDATE and end.cause is not StopCause.FINISHED]
    for end in ends:
        yield from _ended(end)
    yield from _not_loaded(evidence)
    if not ends and evidence.load_failure is None and not evidence.calls:
        yield _incomplete("No call was put to the candidate", 0, evidence.planned_calls)
    elif not ends and evidence.load_failure is None and _left_out(evidence):
        yield _incomplete("The plan was cut short", len(evidence.calls), evidence.planned_calls)


def _left_out(evidence: Evidence) -> bool:
    by_budget = any(note.startswith(("budget:", "bursts:")) for note in evidence.notes)
    return len(evidence.calls) < evidence.planned_calls and not by_budget


def _incomplete(words: str, calls: int, planned: int) -> Finding:
    return Finding(
        code="RH-14",
        detector="RH-PLAN-INCOMPLETE",
        severity=Severity.ERROR,
        summary=f"{words}: {calls} of {planned} calls",
        evidence={"calls": calls, "planned": planned},
        policy_rule="complete_plan",
    )


def _ended(end: WorkerEnd) -> Iterator[Finding]:
    yield Finding(
        code=_CODES[end.cause],
        detector=f"RH-WORKER-{end.cause.name.replace('_', '-')}",
        severity=Severity.ERROR,
        summary=f"{_WORDS[end.cause]} during {end.stage}: {end.detail} ({end.exit})",
        evidence={"stage": end.stage, "exit": end.exit, "detail": end.detail},
        policy_rule="complete_plan",
    )
    if end.cause is StopCause.DIED and end.exit == "exit 0":
        yield Finding(
            code="RH-08",
            detector="RH-WORKER-CLAIMED-SUCCESS",
            severity=Severity.ERROR,
            summary=f"The candidate's process ended with a code of success during {end.stage}, before its calls were made",
            evidence={"stage": end.stage},
            policy_rule="no_self_report",
        )


def _not_loaded(evidence: Evidence) -> Iterator[Finding]:
    failure = evidence.load_failure
    if failure is None:
        return
    denied = any(word in failure.error for word in _DENIED)
    yield Finding(
        code="RH-12" if denied else "RH-14",
        detector="RH-LOAD-DENIED" if denied else "RH-LOAD-FAILED",
        severity=Severity.ERROR,
        summary=f"The candidate did not load ({failure.stage}): {failure.error[:200]}",
        evidence={"stage": failure.stage, "error": failure.error},
        policy_rule="loads",
    )
