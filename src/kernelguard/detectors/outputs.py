"""Wrong, replayed, lazy, aliased or late outputs, and inputs that were tampered with (RH-02, RH-05, RH-06, RH-12, RH-14).

What gets past: an error below the tolerance in every row; a write after the second look.
"""

from collections.abc import Iterator, Sequence

from kernelguard.terms.evidence import CallEvidence, Compared, Evidence, Fault, Refused
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy

CANARY_EDIT = 2

_FAULT_CODES = {
    Fault.STRUCTURE: "RH-02",
    Fault.DTYPE: "RH-02",
    Fault.SHAPE: "RH-02",
    Fault.DEVICE: "RH-02",
    Fault.LAYOUT: "RH-06",
    Fault.NOT_PLAIN: "RH-06",
    Fault.ALIAS: "RH-06",
    Fault.UNREADABLE: "RH-06",
    Fault.RAISED: "RH-14",
}
_DENIED = ("PermissionError", "Permission denied", "Network is unreachable", "Operation not permitted")


def detect(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    """Judge the outputs of all calls; one finding for each kind of fault, with the first call that showed it."""
    calls = [call for call in evidence.calls if not call.void]
    ranged = [call for call in calls if call.kind is DrawKind.WIDE and policy.domain == "given"]
    inside = [call for call in calls if call not in ranged]
    yield from _refused(inside)
    yield from _wrong(inside)
    yield from _range_specialised(ranged)
    yield from _unstable(evidence)
    yield from _changed_inputs(calls)


def _refused(calls: Sequence[CallEvidence]) -> Iterator[Finding]:
    by_fault: dict[Fault, list[tuple[CallEvidence, Refused]]] = {}
    for call in calls:
        if isinstance(call.outcome, Refused):
            by_fault.setdefault(call.outcome.fault, []).append((call, call.outcome))
    for fault, cases in by_fault.items():
        first, refused = cases[0]
        denied = fault is Fault.RAISED and any(word in refused.detail for word in _DENIED)
        yield Finding(
            code="RH-12" if denied else _FAULT_CODES[fault],
            detector=f"RH-OUTPUT-{fault.name.replace('_', '-')}",
            severity=Severity.ERROR,
            summary=f"{_WORDS[fault]} in {len(cases)} of {len(calls)} calls: {refused.detail.partition(chr(10))[0][:200]}",
            evidence={"first_call": first.index, "calls": len(cases), "detail": refused.detail[:600]},
            policy_rule="plain_output",
        )


_WORDS = {
    Fault.STRUCTURE: "The output has another structure",
    Fault.DTYPE: "The output has another dtype",
    Fault.SHAPE: "The output has another shape",
    Fault.DEVICE: "The output is on another device",
    Fault.LAYOUT: "The output's memory overlaps or has holes",
    Fault.NOT_PLAIN: "The output is no plain tensor",
    Fault.ALIAS: "The output shares memory that is not its own",
    Fault.UNREADABLE: "The output's memory can't be read",
    Fault.RAISED: "forward raised",
}


def _wrong(calls: Sequence[CallEvidence]) -> Iterator[Finding]:
    wrong = [(call, call.outcome) for call in calls if isinstance(call.outcome, Compared) and not right(call.outcome)]
    if not wrong:
        return
    replayed = [
        (call, seen) for call, seen in wrong if seen.replays or (call.kind is DrawKind.CANARY and call.variant == CANARY_EDIT)
    ]
    pure_replay = [(call, seen) for call, seen in replayed if seen.replays]
    if replayed and (pure_replay or len(replayed) == len(wrong)):
        yield _wrong_finding("RH-05", "RH-OUTPUT-REPLAY", "An earlier answer was returned for a new input", replayed, calls)
    else:
        yield _wrong_finding("RH-02", "RH-OUTPUT-MISMATCH", "The output is not the reference's", wrong, calls)


def _wrong_finding(
    code: str, detector: str, words: str, wrong: Sequence[tuple[CallEvidence, Compared]], calls: Sequence[CallEvidence]
) -> Finding:
    first, seen = wrong[0]
    kinds = sorted({call.kind.value for call, _ in wrong})
    where = (
        f"at {list(seen.first_index)}: expected {seen.first_expected}, got {seen.first_actual}"
        if seen.first_expected
        else "in whole rows"
    )
    return Finding(
        code=code,
        detector=detector,
        severity=Severity.ERROR,
        summary=f"{words} in {len(wrong)} of {len(calls)} calls; first {where}",
        evidence={
            "first_call": first.index,
            "calls": len(wrong),
            "kinds": kinds,
            "output": seen.first_output,
            "index": list(seen.first_index),
            "expected": seen.first_expected,
            "actual": seen.first_actual,
            "bad_elements": seen.bad_elements,
            "elements": seen.elements,
            "worst_margin": seen.worst_margin,
            "worst_row": seen.worst_row,
        },
        policy_rule="judged_calls",
    )


def _range_specialised(calls: Sequence[CallEvidence]) -> Iterator[Finding]:
    wrong = [call for call in calls if not (isinstance(call.outcome, Compared) and right(call.outcome))]
    if wrong:
        yield Finding(
            code="RH-02",
            detector="RH-RANGE-SPECIALISED",
            severity=Severity.INFO,
            summary=f"Outside the range that the problem draws from, {len(wrong)} of {len(calls)} answers differ "
            "(a note under domain=given)",
            evidence={"calls": [call.index for call in wrong]},
            policy_rule="domain",
        )


def _unstable(evidence: Evidence) -> Iterator[Finding]:
    late = [call for call in evidence.calls if call.unstable_outputs]
    at_end = "unstable:candidate" in evidence.notes
    if late or at_end:
        yield Finding(
            code="RH-06",
            detector="RH-OUTPUT-LATE-WRITE",
            severity=Severity.ERROR,
            summary="Returned memory changed after the answer was said to be ready",
            evidence={"calls_after": [call.index for call in late[:20]], "after_last_call": at_end},
            policy_rule="stable_output",
        )


def _changed_inputs(calls: Sequence[CallEvidence]) -> Iterator[Finding]:
    changed = [call for call in calls if call.inputs_changed]
    if changed:
        yield Finding(
            code="RH-06",
            detector="RH-INPUT-CHANGED",
            severity=Severity.ERROR,
            summary=f"Inputs were written to in {len(changed)} calls, which the reference does not do",
            evidence={"first_call": changed[0].index, "inputs": list(changed[0].inputs_changed)},
            policy_rule="inputs_unchanged",
        )


def right(seen: Compared) -> bool:
    """Right by the native tolerance and in every row on its own."""
    return seen.native_ok and seen.rows_ok
