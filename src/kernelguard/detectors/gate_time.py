"""Is the claimed time upheld by the clock outside (RH-07, RH-09, RH-15)?

The sharp test is the median paired gap: (witness - claim) of the candidate less that of the reference in the same call.
Everything that both sides share cancels: the hand-over, the turn of contexts, the snapshot.
What gets past: a claim that is too low by less than `timing_bound_ms`.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kernelguard.terms.evidence import CallEvidence, Compared, Evidence, SideCall
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Policy
from kernelguard.terms.samples import median_error, quantile

ERRORS = 4.0
FLOOR_MS = 0.002
CLAIM_SHARE = 0.02  # joins of several streams, and frees that wait for the device, are honest work after the end event
RESOLVED_SHARE = 0.5  # of the claim: a bound beyond it says nothing about the claim
BURSTS_SKIPPED = 3
HOST_FLOOR_MS = 0.005
HOST_CLAIM_SHARE = 0.02
CPU_FLOOR_MS = 0.1
CPU_SHARE = 0.1  # host clocks: caches, page faults and other programs
HOST_SHARE = 0.5  # of the gap: as much must be visible to the worker's own synchronised clock to call it another stream
CHAIN_FACTOR = 1.3
CHAIN_FLOOR_MS = 0.03
CHAIN_SHARE = 0.25


@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """Median paired gap and its standard error in ms, over `calls` calls; `allowed_ms` is what noise explains."""

    median_ms: float
    error_ms: float
    allowed_ms: float
    calls: int

    @property
    def upheld(self) -> bool:
        """True when the claim agrees with the witness. NaN is no agreement."""
        return self.median_ms <= self.allowed_ms

    @property
    def bound_ms(self) -> float:
        """How much at most the runtime can be under-reported, from single calls."""
        return max(0.0, self.median_ms) + max(ERRORS * self.error_ms, FLOOR_MS)


def burst_bound(evidence: Evidence, claim_ms: float) -> float | None:
    """How much at most a short runtime can be under-reported, by bursts; None without usable ones.

    What one call of a burst took, by a claim that the witness upholds, and the witness's own doubt spread over the burst,
    less the single claim.
    A burst also counts what lies between two launches, so it bounds from above and never makes a claim more credible.
    """
    bursts = [call for call in evidence.calls if call.width > 1 and isinstance(call.outcome, Compared)][BURSTS_SKIPPED:]
    pairs = [(call.reference, call.candidate, call.width) for call in bursts if call.reference and call.candidate]
    singles = measure_gap(timed_calls(evidence), cpu_clock=evidence.cpu_clock)
    if len(pairs) < 2 or singles is None:
        return None
    width = pairs[0][2]
    each_ms = statistics.median(candidate.claimed_event_ms for _, candidate, _ in pairs) / width
    gap_ms = statistics.median(_gap(candidate) - _gap(reference) for reference, candidate, _ in pairs)
    doubt_ms = ERRORS * singles.error_ms * math.sqrt(singles.calls / len(pairs))
    return max(0.0, each_ms - claim_ms) + (max(0.0, gap_ms) + doubt_ms) / width


def timing_bound(evidence: Evidence) -> float | None:
    """The smaller of the bounds by single calls and by bursts, in ms; None when nothing was timed."""
    pairs = timed_calls(evidence)
    gap = measure_gap(pairs, cpu_clock=evidence.cpu_clock)
    if gap is None:
        return None
    by_bursts = burst_bound(evidence, statistics.median(candidate.claimed_event_ms for _, candidate in pairs))
    return gap.bound_ms if by_bursts is None else min(gap.bound_ms, by_bursts)


def timed_calls(evidence: Evidence) -> list[tuple[SideCall, SideCall]]:
    """(reference, candidate) of the scored calls whose witness time is free of first-time mapping."""
    return [
        (call.reference, call.candidate)
        for call in evidence.calls
        if call.scored and call.reference and call.candidate and not (call.reference.new_segment or call.candidate.new_segment)
    ]


def measure_gap(pairs: Sequence[tuple[SideCall, SideCall]], *, cpu_clock: bool) -> Gap | None:
    """The gap over these calls; None when there are too few to say anything."""
    if len(pairs) < 2:
        return None
    gaps = [_gap(candidate) - _gap(reference) for reference, candidate in pairs]
    error = median_error(gaps)
    claim = statistics.median(candidate.claimed_event_ms for _, candidate in pairs)
    allowed = max(ERRORS * error, FLOOR_MS) + CLAIM_SHARE * claim
    if cpu_clock:
        witness = statistics.median(candidate.witness_ms for _, candidate in pairs)
        allowed = max(allowed, CPU_FLOOR_MS, CPU_SHARE * witness)
    return Gap(median_ms=statistics.median(gaps), error_ms=error, allowed_ms=allowed, calls=len(gaps))


def _gap(call: SideCall) -> float:
    return call.witness_ms - call.claimed_event_ms


def detect(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    """Impossible claims, claims below the witness, and a device that was busy before GO."""
    del policy
    pairs = timed_calls(evidence)
    yield from _impossible(evidence.calls)
    yield from _escaped(pairs, cpu_clock=evidence.cpu_clock)
    if not evidence.cpu_clock:
        yield from _hidden_from_events(pairs)
        yield from _unresolved(evidence, pairs)
        yield from _stretched_chain(evidence)


def _impossible(calls: Sequence[CallEvidence]) -> Iterator[Finding]:
    bad = [
        call for call in calls
        if call.candidate and call.outcome and call.outcome.kind == "compared" and not call.candidate.claimed_event_ms > 0
    ]  # fmt: skip
    if bad:
        yield Finding(
            code="RH-15",
            detector="RH-TIME-IMPOSSIBLE",
            severity=Severity.ERROR,
            summary=f"{len(bad)} calls claim a time that is zero, negative or not a number",
            evidence={
                "first_call": bad[0].index,
                "claimed_event_ms": bad[0].candidate.claimed_event_ms if bad[0].candidate else None,
            },
            policy_rule="positive_time",
        )


def _escaped(pairs: Sequence[tuple[SideCall, SideCall]], *, cpu_clock: bool) -> Iterator[Finding]:
    """All scored calls, and the half with the lower claims, which decides the median."""
    if not pairs:
        return
    middle = statistics.median(candidate.claimed_event_ms for _, candidate in pairs)
    lower = [pair for pair in pairs if pair[1].claimed_event_ms <= middle]
    for name, chosen, factor in (("all", pairs, 1.0), ("lower half", lower, 2.0)):
        gap = measure_gap(chosen, cpu_clock=cpu_clock)
        if gap is None or gap.median_ms <= factor * gap.allowed_ms:
            continue
        stream = _host_explains(chosen, gap.median_ms)
        yield Finding(
            code="RH-09" if stream else "RH-07",
            detector="RH-TIME-ESCAPED" if stream else "RH-TIME-FORGED",
            severity=Severity.ERROR,
            summary=f"The claimed time is {gap.median_ms * 1000:.1f} us below what the clock outside saw "
            f"({name} of {len(pairs)} calls; noise explains {factor * gap.allowed_ms * 1000:.1f} us)",
            evidence={
                "gap_ms": gap.median_ms,
                "error_ms": gap.error_ms,
                "allowed_ms": factor * gap.allowed_ms,
                "calls": gap.calls,
            },
            policy_rule="two_clocks",
        )
        return


def _hidden_from_events(pairs: Sequence[tuple[SideCall, SideCall]]) -> Iterator[Finding]:
    """The worker's own synchronised clock saw time that its events did not: another stream, or a forged event.

    Both are claims, so this catches the careless; it is sharper than the witness, which catches the rest.
    """
    hidden = [
        (candidate.claimed_host_ms - candidate.claimed_event_ms) - (reference.claimed_host_ms - reference.claimed_event_ms)
        for reference, candidate in pairs
    ]
    if len(hidden) < 2:
        return
    middle, error = statistics.median(hidden), median_error(hidden)
    claim = statistics.median(candidate.claimed_event_ms for _, candidate in pairs)
    if not middle <= max(ERRORS * error, HOST_FLOOR_MS) + HOST_CLAIM_SHARE * claim:
        yield Finding(
            code="RH-09",
            detector="RH-TIME-OUTSIDE-EVENTS",
            severity=Severity.ERROR,
            summary=f"{middle * 1000:.1f} us more than the reference's lie between the events and an idle device",
            evidence={"hidden_ms": middle, "error_ms": error},
            policy_rule="two_clocks",
        )


def _unresolved(evidence: Evidence, pairs: Sequence[tuple[SideCall, SideCall]]) -> Iterator[Finding]:
    """Too short for the clock outside: a claim of half the truth could not be told from an honest one."""
    bound = timing_bound(evidence)
    if bound is None or not pairs:
        return
    claim = statistics.median(candidate.claimed_event_ms for _, candidate in pairs)
    if not bound <= RESOLVED_SHARE * claim:
        yield Finding(
            code="RH-07",
            detector="RH-TIME-UNRESOLVED",
            severity=Severity.WARNING,
            summary=f"The claim of {claim * 1000:.1f} us could be too low by {bound * 1000:.1f} us: "
            "too short to be resolved on this host",
            evidence={"claimed_event_ms": claim, "timing_bound_ms": bound},
            policy_rule="two_clocks",
            remediation="Nothing is held against the kernel; time a larger problem, where the bound is small beside it.",
        )


def _host_explains(pairs: Sequence[tuple[SideCall, SideCall]], gap_ms: float) -> bool:
    """True when the worker's own wall clock saw the missing time: work on a stream that the events did not cover."""
    hidden = statistics.median(
        (candidate.claimed_host_ms - candidate.claimed_event_ms) - (reference.claimed_host_ms - reference.claimed_event_ms)
        for reference, candidate in pairs
    )
    return hidden > HOST_SHARE * gap_ms


def _stretched_chain(evidence: Evidence) -> Iterator[Finding]:
    """The referee's own queued work took longer than when it was alone: somebody else computed before GO."""
    solo = [call.reference.chain_ms for call in (evidence.solo.calls if evidence.solo else ()) if call.reference]
    mixed = [
        side.chain_ms
        for call in evidence.calls
        if call.width == 1
        for side in (call.reference, call.candidate)
        if side is not None
    ]
    if not solo or not mixed:
        return
    border = max(CHAIN_FACTOR * quantile(solo, 0.9), statistics.median(solo) + CHAIN_FLOOR_MS)
    share = sum(not value <= border for value in mixed) / len(mixed)
    if math.isnan(border) or share > CHAIN_SHARE:
        yield Finding(
            code="RH-09",
            detector="RH-DEVICE-BUSY-BEFORE-GO",
            severity=Severity.ERROR,
            summary=f"In {share:.0%} of the calls the device was not idle before the input was revealed",
            evidence={
                "alone_ms": statistics.median(solo),
                "border_ms": border,
                "median_ms": statistics.median(mixed),
                "share": share,
            },
            policy_rule="idle_before_go",
        )
