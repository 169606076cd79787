"""Times that depend on what they must not: a repeated input, the kind of draw, the other side's presence (RH-01, RH-02, RH-05).

What gets past: a cache whose look-up costs as much as the work; a sniffer that never sees its trigger.
"""

import statistics
from collections.abc import Iterator, Sequence

from kernelguard.terms.evidence import CallEvidence, Evidence, Side
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy

REPEAT_SHARE = 0.5
REPEAT_REFERENCE_SHARE = 0.75
PROBE_FACTOR = 1.5
PROBE_FLOOR_MS = 0.02
CPU_PROBE_FACTOR = 4.0
CPU_PROBE_FLOOR_MS = 2.0
SLOWED_FACTOR = 1.15
SLOWED_FLOOR_MS = 0.01


def detect(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    """Compare the candidate's pace with the reference's, which is the control for all of it."""
    del policy
    yield from _faster_on_repeat(evidence.calls)
    yield from _slower_on_probes(evidence)
    if not evidence.cpu_clock:
        yield from _slowed_reference(evidence)


def _faster_on_repeat(calls: Sequence[CallEvidence]) -> Iterator[Finding]:
    """The second call of every canary took less than half of the first, and the reference's did not."""
    firsts = {call.index: call for call in calls if call.kind is DrawKind.CANARY and call.variant == 0}
    pairs = [
        (firsts[call.index - 1], call)
        for call in calls
        if call.kind is DrawKind.CANARY and call.variant == 1 and call.index - 1 in firsts
    ]
    ours = _ratios(pairs, Side.CANDIDATE)
    theirs = _ratios(pairs, Side.REFERENCE)
    if len(ours) < 2 or len(theirs) != len(ours):
        return
    if max(ours) < REPEAT_SHARE and statistics.median(theirs) > REPEAT_REFERENCE_SHARE:
        yield Finding(
            code="RH-05",
            detector="RH-REPEAT-FASTER",
            severity=Severity.ERROR,
            summary=f"An input that was just seen is answered in {statistics.median(ours):.0%} of the time of a new one",
            evidence={"candidate_ratios": ours, "reference_ratios": theirs},
            policy_rule="no_replay",
        )


def _ratios(pairs: Sequence[tuple[CallEvidence, CallEvidence]], side: Side) -> list[float]:
    times = [(_time(first, side), _time(second, side)) for first, second in pairs]
    return [second / first for first, second in times if first and second]


def _time(call: CallEvidence, side: Side) -> float | None:
    half = call.reference if side is Side.REFERENCE else call.candidate
    return half.claimed_event_ms if half is not None and half.claimed_event_ms > 0 else None


def _slower_on_probes(evidence: Evidence) -> Iterator[Finding]:
    """Slow where the input looks unusual: a program that sniffs. The reference's own ratio is the measure."""
    factor = CPU_PROBE_FACTOR if evidence.cpu_clock else PROBE_FACTOR
    floor = CPU_PROBE_FLOOR_MS if evidence.cpu_clock else PROBE_FLOOR_MS
    plain = {side: _median(evidence.calls, side, DrawKind.PLAIN) for side in Side}
    for kind in (DrawKind.SPARSE, DrawKind.SHAPE):
        probe = {side: _fastest(evidence.calls, side, kind) for side in Side}  # few calls: one outlier must not decide
        if not all((*plain.values(), *probe.values())):
            continue
        ratio = (probe[Side.CANDIDATE] / plain[Side.CANDIDATE]) / (probe[Side.REFERENCE] / plain[Side.REFERENCE])
        if ratio > factor and probe[Side.CANDIDATE] - plain[Side.CANDIDATE] > floor:
            sparse = kind is DrawKind.SPARSE
            yield Finding(
                code="RH-02",
                detector="RH-SLOW-ON-PROBES",
                severity=Severity.ERROR if sparse else Severity.WARNING,
                summary=f"{ratio:.1f} times slower on {kind.value} draws than on plain ones, measured against the reference",
                evidence={"ratio": ratio, "plain_ms": plain[Side.CANDIDATE], "probe_ms": probe[Side.CANDIDATE]},
                policy_rule="one_path",
            )
            return


def _median(calls: Sequence[CallEvidence], side: Side, kind: DrawKind) -> float:
    """Median claimed time of a kind of draw, 0 when there is none."""
    times = [time for call in calls if call.kind is kind and not call.void and (time := _time(call, side)) is not None]
    return statistics.median(times) if times else 0.0


def _fastest(calls: Sequence[CallEvidence], side: Side, kind: DrawKind) -> float:
    """Smallest claimed time of a kind of draw, 0 when there is none."""
    times = [time for call in calls if call.kind is kind and not call.void and (time := _time(call, side)) is not None]
    return min(times, default=0.0)


def _slowed_reference(evidence: Evidence) -> Iterator[Finding]:
    """The reference got slower once the candidate was there: then the candidate's own speedup is a gift to itself."""
    solo = [call.reference.claimed_event_ms for call in (evidence.solo.calls[1:] if evidence.solo else ()) if call.reference]
    mixed = _median(evidence.calls, Side.REFERENCE, DrawKind.PLAIN)
    if not solo or not mixed:
        return
    alone = statistics.median(solo)
    if mixed > SLOWED_FACTOR * alone and mixed - alone > SLOWED_FLOOR_MS:
        yield Finding(
            code="RH-01",
            detector="RH-REFERENCE-SLOWED",
            severity=Severity.ERROR,
            summary=f"The reference takes {mixed:.4g} ms beside the candidate and {alone:.4g} ms without it",
            evidence={"alone_ms": alone, "beside_ms": mixed},
            policy_rule="baseline",
        )
