"""Every early end has a name, and an incomplete plan is never a shorter success."""

import pytest
from evidence_builder import evidence, plain_calls

from kernelguard.detectors import DETECTORS
from kernelguard.detectors import detect as detect_all
from kernelguard.detectors.endings import detect
from kernelguard.terms.evidence import BlockEvidence, Evidence, LoadFailure, Side, StopCause, WorkerEnd
from kernelguard.terms.policy import Policy


def codes(seen: Evidence) -> list[str]:
    """The codes in order."""
    return [finding.code for finding in detect(seen, Policy())]


def end(cause: StopCause, side: Side = Side.CANDIDATE, how: str = "signal 9") -> WorkerEnd:
    """A worker's end during the calls."""
    return WorkerEnd(side=side, cause=cause, stage="calls", exit=how)


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (StopCause.FINISHED, []),
        (StopCause.DIED, ["RH-14"]),
        (StopCause.TIMEOUT, ["RH-14"]),
        (StopCause.LOG_FLOOD, ["RH-16"]),
        (StopCause.REPLY_TOO_LONG, ["RH-16"]),
        (StopCause.PROCESSES, ["RH-16"]),
        (StopCause.GPU_MEMORY, ["RH-16"]),
        (StopCause.PROTOCOL, ["RH-08"]),
    ],
)
def test_every_cause_of_an_end_has_its_code(cause: StopCause, expected: list[str]) -> None:
    """A new cause without a code would raise KeyError here before it does so in front of a user."""
    assert codes(evidence(ends=(end(cause),))) == expected


def test_every_cause_is_listed_above() -> None:
    """Keeps the table above complete."""
    assert len(StopCause) == 8


def test_the_references_end_is_not_the_candidates_fault() -> None:
    """Whose process died decides whose finding it is."""
    assert codes(evidence(ends=(end(StopCause.DIED, Side.REFERENCE),))) == []


def test_leaving_with_a_code_of_success_is_a_claim_of_success() -> None:
    """`os._exit(0)` fools whoever reads the exit code as a verdict."""
    assert codes(evidence(ends=(end(StopCause.DIED, how="exit 0"),))) == ["RH-14", "RH-08"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("ImportError: no module named x", "RH-14"),
        ("PermissionError: [Errno 13] Permission denied: '/root'", "RH-12"),
        ("OSError: [Errno 101] Network is unreachable", "RH-12"),
    ],
)
def test_a_program_that_does_not_load_says_why(error: str, code: str) -> None:
    """A missing module is an accident; a denied reach is not."""
    failure = LoadFailure(stage="import", error=error, text=error)

    assert codes(evidence(blocks=(), load_failure=failure)) == [code]


def test_a_plan_that_was_cut_short_is_incomplete() -> None:
    """Ending early after lucky calls must not count."""
    assert codes(evidence(plain_calls(5), planned_calls=20)) == ["RH-14"]


def test_no_call_at_all_is_incomplete_even_when_none_was_planned() -> None:
    """An empty evaluation has nothing in it that could be right."""
    assert codes(Evidence(blocks=(BlockEvidence(calls=()),))) == ["RH-14"]
    assert codes(Evidence(planned_calls=3, notes=("budget: none",))) == ["RH-14"]


@pytest.mark.parametrize("note", ["budget: 5 of 20 calls", "bursts: left out"])
def test_a_plan_that_the_evaluator_itself_shortened_is_complete(note: str) -> None:
    """A spent budget is the operator's choice and is recorded as such."""
    assert codes(evidence(plain_calls(5), planned_calls=20, notes=(note,))) == []


def test_all_detectors_together_are_silent_about_an_honest_evaluation() -> None:
    """The whole bench of detectors, once, on the innocent."""
    assert set(DETECTORS) == {"outputs", "gate_time", "pace", "precision", "state", "endings"}
    assert detect_all(evidence(), Policy()) == ()
