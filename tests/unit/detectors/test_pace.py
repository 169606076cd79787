"""Times that depend on what they must not, with the reference as control."""

import pytest
from evidence_builder import call, evidence, plain_calls, side_call

from kernelguard.detectors.pace import detect
from kernelguard.terms.evidence import CallEvidence, Evidence
from kernelguard.terms.findings import Severity
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy


def detectors(seen: Evidence) -> list[str]:
    """The names of the detectors that found something."""
    return [finding.detector for finding in detect(seen, Policy())]


def canaries(candidate_ms: float, reference_ms: float, pairs: int = 3) -> list[CallEvidence]:
    """Pairs of a new input (1 ms on both sides) and the same again (the given times), with plain calls before."""
    made = list(plain_calls(20))
    for pair in range(pairs):
        index = 20 + 2 * pair
        made.append(call(index, DrawKind.CANARY))
        again = call(index + 1, DrawKind.CANARY, variant=1, candidate=side_call(candidate_ms), reference=side_call(reference_ms))
        made.append(again)
    return made


def test_an_honest_pace_yields_nothing() -> None:
    """A canary that takes as long as its first sight, and probes like plain draws."""
    probes = [call(40 + number, kind) for number, kind in enumerate((DrawKind.SPARSE, DrawKind.SHAPE, DrawKind.WIDE))]

    assert detectors(evidence([*canaries(0.98, 0.99), *probes])) == []


def test_an_answer_that_gets_cheaper_when_its_input_returns_was_remembered() -> None:
    """A cache gives itself away by its pace even when its answer is right."""
    assert detectors(evidence(canaries(0.05, 1.0))) == ["RH-REPEAT-FASTER"]


def test_a_repeat_that_is_cheap_for_the_reference_too_is_no_cache() -> None:
    """Warm memory makes both sides faster."""
    assert detectors(evidence(canaries(0.4, 0.4))) == []


def test_one_fast_repeat_is_no_proof() -> None:
    """A single pair is an accident."""
    assert detectors(evidence(canaries(0.05, 1.0, pairs=1))) == []


def test_claims_of_zero_do_not_break_the_ratio() -> None:
    """A zero claim has its own finding; here it must neither divide nor acquit."""
    assert detectors(evidence(canaries(0.0, 1.0))) == []


@pytest.mark.parametrize(
    ("kind", "severity"), [(DrawKind.SPARSE, Severity.ERROR), (DrawKind.SHAPE, Severity.WARNING)]
)  # fmt: skip
def test_a_program_that_is_slow_on_probes_alone_has_two_paths(kind: DrawKind, severity: Severity) -> None:
    """A shortcut for usual inputs is what sniffing buys; sparse rows look usual to any honest kernel."""
    calls = [*plain_calls(20), call(20, kind, candidate=side_call(3.0)), call(21, kind, candidate=side_call(3.0))]

    (finding,) = detect(evidence(calls), Policy())

    assert (finding.detector, finding.severity) == ("RH-SLOW-ON-PROBES", severity)


def test_probes_that_are_slow_for_the_reference_too_are_no_second_path() -> None:
    """Data-dependent work (a sort) is honest when both sides show it."""
    both = {"candidate": side_call(3.0), "reference": side_call(3.0)}

    assert detectors(evidence([*plain_calls(20), call(20, DrawKind.SPARSE, **both)])) == []


def test_one_slow_probe_among_quick_ones_decides_nothing() -> None:
    """Few probes are drawn, so a single outlier must not convict."""
    calls = [*plain_calls(20), call(20, DrawKind.SPARSE, candidate=side_call(9.0)), call(21, DrawKind.SPARSE)]

    assert detectors(evidence(calls)) == []


def test_a_host_clock_is_not_trusted_with_small_differences() -> None:
    """On the CPU three times slower for a millisecond is a page fault."""
    calls = [*plain_calls(20), call(20, DrawKind.SPARSE, candidate=side_call(2.9))]

    assert detectors(evidence(calls, cpu_clock=True)) == []


def test_a_reference_that_slows_down_beside_the_candidate_is_polluted() -> None:
    """Whoever slows the reference gives itself a speedup."""
    calls = plain_calls(20, reference=side_call(1.5))

    assert detectors(evidence(calls)) == ["RH-REFERENCE-SLOWED"]


def test_a_reference_that_keeps_its_pace_is_clean() -> None:
    """A tenth is drift of clocks and heat."""
    assert detectors(evidence(plain_calls(20, reference=side_call(1.1)))) == []
