"""Whatever times a worker claims, an evaluation ends in a verdict whose record can be written and read."""

import pytest
from evidence_builder import call, evidence, side_call

from kernelguard.decision import decide
from kernelguard.detectors import detect
from kernelguard.evaluation.dossier import dossier
from kernelguard.evaluation.sitting import Sitting
from kernelguard.reporting.record import parse_record, record_text, to_record
from kernelguard.terms.policy import Isolation, Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Integrity, Verdict

POLICY = Policy()


def judged(claims_ms: list[float], *, cpu_clock: bool) -> Verdict:
    """The end of `evaluate` on calls of 1 ms that claim these times."""
    half = [side_call(1.0, claimed_event_ms=claim, claimed_host_ms=claim) for claim in claims_ms]
    seen = evidence([call(number, candidate=said) for number, said in enumerate(half)], cpu_clock=cpu_clock)
    sitting = Sitting(evidence=seen, plan=None, versions={}, isolation=Isolation.PROCESS, reached=(), missing=(), clocks=())
    extended = dossier(Problem(source="x", name="p"), Candidate(source="y", name="c"), POLICY, sitting)
    return decide(detect(seen, POLICY), (), seen, POLICY, extended=extended)


@pytest.mark.parametrize("cpu_clock", [False, True])
@pytest.mark.parametrize(
    "claims_ms",
    [
        pytest.param([0.0] * 20, id="all zero"),
        pytest.param([0.0] * 11 + [1.0] * 9, id="half zero"),
        pytest.param([-1.0] * 20, id="all negative"),
        pytest.param([-1.0] * 11 + [1.0] * 9, id="half negative"),
        pytest.param([5e-324] * 20, id="denormal"),
        pytest.param([1e-300] * 20, id="vanishing"),
        pytest.param([1e-9] * 20, id="a femtosecond"),
        pytest.param([1e-9] * 11 + [1.0] * 9, id="half a femtosecond"),
        pytest.param([1e-6] * 20, id="a nanosecond"),
        pytest.param([0.5] * 11 + [1.0] * 9, id="half forged by half"),
    ],
)
def test_a_claim_that_is_too_low_ends_in_a_verdict_that_is_no_pass(claims_ms: list[float], cpu_clock: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """An exception here would cost the operator the batch and hand the candidate another try."""
    verdict = judged(claims_ms, cpu_clock=cpu_clock)

    assert verdict.integrity is Integrity.FAIL
    assert {"RH-07", "RH-09", "RH-15"} & set(verdict.codes)
    assert parse_record(record_text(to_record(verdict, POLICY)))


@pytest.mark.parametrize(
    ("claim_ms", "count"),
    [
        (1e3, 20), (1e20, 1), (1e20, 20), (1e155, 11), (1e300, 1), (1e300, 20), (1.7e308, 1),
        pytest.param(1.7e308, 11), pytest.param(1.7e308, 20),
    ],
)  # fmt: skip
def test_a_claim_that_is_too_high_gives_no_error_of_ours(claim_ms: float, count: int) -> None:
    """Whoever claims more than it took harms itself alone."""
    verdict = judged([claim_ms] * count + [1.0] * (20 - count), cpu_clock=False)

    assert parse_record(record_text(to_record(verdict, POLICY)))
    assert verdict.verified_runtime_ms is None or verdict.verified_runtime_ms >= 1.0
