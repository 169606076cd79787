"""Two clocks: a claim that the witness upholds passes, one that it does not is a finding with the right name."""

import math
import random
from dataclasses import replace

import pytest
from evidence_builder import call, evidence, plain_calls, side_call

from kernelguard.detectors.gate_time import burst_bound, detect, measure_gap, timed_calls, timing_bound
from kernelguard.terms.evidence import BlockEvidence, CallEvidence, Evidence, Refused
from kernelguard.terms.evidence import Fault as OutputFault
from kernelguard.terms.findings import Severity
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy


def detectors(seen: Evidence) -> list[str]:
    """The names of the detectors that found something."""
    return [finding.detector for finding in detect(seen, Policy())]


def forged(hidden_ms: float, host_ms: float, count: int = 20) -> tuple[CallEvidence, ...]:
    """Calls whose claim leaves out `hidden_ms`; the worker's host clock shows `host_ms` of it."""
    honest = side_call()
    half = replace(honest, claimed_event_ms=1.0 - hidden_ms, claimed_host_ms=1.01 - hidden_ms + host_ms)
    return plain_calls(count, candidate=half)


def test_an_honest_pair_of_clocks_yields_nothing() -> None:
    """The same overhead on both sides cancels, however large it is."""
    noise = random.Random(7)
    calls = [
        call(number, reference=side_call(2.0, overhead_ms=0.19 + noise.uniform(0, 0.01)),
             candidate=side_call(1.0, overhead_ms=0.19 + noise.uniform(0, 0.01)))
        for number in range(100)
    ]  # fmt: skip

    assert detectors(evidence(calls)) == []


def test_a_forged_event_is_found_by_the_witness() -> None:
    """Half the time left out, and the host clock forged along with it: the clock outside still sees it."""
    seen = evidence(forged(0.5, host_ms=0.0))

    finding = next(iter(detect(seen, Policy())))

    assert (finding.code, finding.detector, finding.severity) == ("RH-07", "RH-TIME-FORGED", Severity.ERROR)


def test_time_that_the_workers_own_host_clock_saw_is_another_stream() -> None:
    """Escaped work is told from a forged clock by who saw the missing time."""
    finding = next(iter(detect(evidence(forged(0.5, host_ms=0.5)), Policy())))

    assert (finding.code, finding.detector) == ("RH-09", "RH-TIME-ESCAPED")


def test_forging_half_of_the_calls_is_seen_in_the_half_that_decides() -> None:
    """Half forged and half honest looks like noise as a whole; the lower half, which moves the median, is looked at by itself."""
    calls = [*forged(0.5, host_ms=0.0, count=10), *(call(10 + number) for number in range(10))]

    assert "RH-TIME-FORGED" in detectors(evidence(calls))


def test_a_witness_that_is_not_a_number_upholds_nothing() -> None:
    """Comparisons are written so that NaN loses."""
    gap = measure_gap([(side_call(), side_call(witness_ms=math.nan))] * 5, cpu_clock=False)

    assert gap is not None
    assert not gap.upheld


@pytest.mark.parametrize("claim_ms", [0.0, -1.0, math.nan])
def test_a_claim_that_is_no_time_is_impossible(claim_ms: float) -> None:
    """Zero, negative and NaN runtimes would win every ranking."""
    calls = [*plain_calls(20), call(20, candidate=side_call(claimed_event_ms=claim_ms))]

    assert "RH-TIME-IMPOSSIBLE" in detectors(evidence(calls))


def test_a_call_that_raised_is_not_accused_of_its_missing_time() -> None:
    """A refused output has its own finding; no second one for having no time."""
    refused = Refused(fault=OutputFault.RAISED, detail="ValueError")
    calls = [*plain_calls(20), call(20, scored=False, candidate=side_call(claimed_event_ms=-1.0), outcome=refused)]

    assert detectors(evidence(calls)) == []


def test_work_between_the_last_event_and_an_idle_device_is_hidden_from_the_events() -> None:
    """The worker's synchronised clock is sharper than the witness where the careless forget a stream."""
    calls = plain_calls(20, candidate=side_call(claimed_host_ms=1.2))

    assert detectors(evidence(calls)) == ["RH-TIME-OUTSIDE-EVENTS"]


def test_a_kernel_too_short_for_the_witness_is_a_warning() -> None:
    """What can't be resolved may not be called verified, and is nobody's crime."""
    noise = random.Random(3)
    calls = [
        call(number, reference=side_call(0.002), candidate=side_call(0.002, overhead_ms=0.2 + noise.uniform(-0.02, 0.02)))
        for number in range(20)
    ]

    findings = list(detect(evidence(calls), Policy()))

    assert [(finding.detector, finding.severity) for finding in findings] == [("RH-TIME-UNRESOLVED", Severity.WARNING)]


def test_a_device_that_was_busy_before_go_stretches_the_chain() -> None:
    """Work before the input is revealed competes with the referee's own queued work."""
    calls = plain_calls(20, candidate=side_call(chain_ms=0.9))

    assert detectors(evidence(calls)) == ["RH-DEVICE-BUSY-BEFORE-GO"]


def test_a_few_stretched_chains_are_noise() -> None:
    """One slow chain in ten is what shared hosts do."""
    calls = [*plain_calls(18), call(18, candidate=side_call(chain_ms=0.9)), call(19, reference=side_call(chain_ms=0.9))]

    assert detectors(evidence(calls)) == []


def test_chains_that_are_not_numbers_count_as_stretched() -> None:
    """A blind probe must not read as an idle device."""
    assert "RH-DEVICE-BUSY-BEFORE-GO" in detectors(evidence(plain_calls(20, candidate=side_call(chain_ms=math.nan))))


def test_host_clocks_have_wider_bounds_but_not_endless_ones() -> None:
    """On a CPU a tenth of a millisecond is noise; half of the time is not."""
    small, large = plain_calls(20, candidate=side_call(overhead_ms=0.25)), forged(0.5, host_ms=0.0)

    assert detectors(evidence(small, cpu_clock=True)) == []
    assert detectors(evidence(large, cpu_clock=True)) == ["RH-TIME-FORGED"]


def test_calls_with_a_new_segment_are_not_timed() -> None:
    """Mapping memory for the first time costs the referee, and must not look like a forged claim."""
    slow = side_call(witness_ms=9.0, new_segment=True)

    assert timed_calls(evidence(plain_calls(5, candidate=slow))) == []
    assert detectors(evidence([*plain_calls(20), call(20, candidate=slow)])) == []


def test_the_timing_bound_covers_what_a_claim_left_out() -> None:
    """The bound in the record has to be at least the time that was hidden."""
    bound = timing_bound(evidence(forged(0.05, host_ms=0.0)))

    assert bound is not None
    assert bound >= 0.05


def test_nothing_timed_gives_no_bound() -> None:
    """A missing fact is None, never zero."""
    assert timing_bound(evidence([call()])) is None
    assert timing_bound(Evidence(blocks=(BlockEvidence(calls=()),))) is None


def test_bursts_bound_a_short_runtime_more_sharply_than_single_calls() -> None:
    """32 inputs at one GO spread the witness's doubt, which is what makes short kernels measurable."""
    noise = random.Random(3)
    singles = [
        call(number, reference=side_call(0.01), candidate=side_call(0.01, overhead_ms=0.2 + noise.uniform(-0.02, 0.02)))
        for number in range(40)
    ]
    bursts = [
        call(40 + number, DrawKind.BURST, width=32, reference=side_call(0.33), candidate=side_call(0.33)) for number in range(7)
    ]

    alone, together = timing_bound(evidence(singles)), timing_bound(evidence([*singles, *bursts]))

    assert alone is not None
    assert together is not None
    assert together < alone / 2


def test_bursts_uncover_a_claim_that_is_too_low_by_half() -> None:
    """A burst that takes twice what its single calls claim must show in the bound."""
    singles = plain_calls(40, reference=side_call(0.01), candidate=side_call(0.01))
    bursts = [call(40 + n, DrawKind.BURST, width=32, reference=side_call(0.64), candidate=side_call(0.64)) for n in range(7)]

    assert burst_bound(evidence([*singles, *bursts]), 0.01) == pytest.approx(0.01, rel=0.01)


def test_without_bursts_there_is_no_bound_by_bursts() -> None:
    """No bursts is no knowledge, and never a bound of zero."""
    assert burst_bound(evidence(), 1.0) is None
