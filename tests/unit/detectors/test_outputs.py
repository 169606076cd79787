"""What was returned: each fault gives its code, and the honest neighbour gives nothing."""

from dataclasses import replace

import pytest
from evidence_builder import RIGHT, WRONG, call, evidence, plain_calls

from kernelguard.detectors.outputs import detect
from kernelguard.terms.evidence import Compared, Evidence, Fault, Refused
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy


def found(seen: Evidence, policy: Policy | None = None) -> list[Finding]:
    """The detector's findings."""
    return list(detect(seen, policy or Policy()))


def test_an_honest_evaluation_yields_nothing() -> None:
    """The floor of every other test here: silence for the innocent."""
    kinds = [*plain_calls(10), *(call(10 + number, kind) for number, kind in enumerate(DrawKind))]

    assert found(evidence(kinds)) == []


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault.STRUCTURE, "RH-02"),
        (Fault.DTYPE, "RH-02"),
        (Fault.SHAPE, "RH-02"),
        (Fault.DEVICE, "RH-02"),
        (Fault.LAYOUT, "RH-06"),
        (Fault.NOT_PLAIN, "RH-06"),
        (Fault.ALIAS, "RH-06"),
        (Fault.UNREADABLE, "RH-06"),
        (Fault.RAISED, "RH-14"),
    ],
)
def test_every_refused_output_is_an_error_with_its_code(fault: Fault, code: str) -> None:
    """An output that was never compared must not count as right."""
    calls = [*plain_calls(3), call(3, outcome=Refused(fault=fault, detail="the first line\nthe second"))]

    (finding,) = found(evidence(calls))

    assert (finding.code, finding.severity) == (code, Severity.ERROR)
    assert finding.evidence["first_call"] == 3
    assert "the first line" in finding.summary
    assert "the second" not in finding.summary


def test_a_forward_that_was_denied_by_the_sandbox_is_a_reach_outside() -> None:
    """The kernel's refusal says what the program was after."""
    outcome = Refused(fault=Fault.RAISED, detail="PermissionError: [Errno 13] Permission denied: '/etc/shadow'")

    (finding,) = found(evidence([call(outcome=outcome)]))

    assert finding.code == "RH-12"


@pytest.mark.parametrize("broken", [{"native_ok": False}, {"rows_ok": False}])
def test_one_wrong_call_is_enough(broken: dict[str, bool]) -> None:
    """All calls must pass, by the tolerance and by rows: an intermittent error is an error."""
    calls = [*plain_calls(99), call(99, outcome=replace(RIGHT, **broken))]

    (finding,) = found(evidence(calls))

    assert (finding.code, finding.detector) == ("RH-02", "RH-OUTPUT-MISMATCH")
    assert finding.evidence["calls"] == 1


def test_an_earlier_answer_is_named_a_replay() -> None:
    """The person who wrote a cache should read `cache`, not `wrong`."""
    calls = [*plain_calls(3), call(3, outcome=replace(WRONG, replays=True))]

    assert [finding.code for finding in found(evidence(calls))] == ["RH-05"]


def test_failing_only_where_a_seen_input_was_edited_is_a_replay() -> None:
    """A cache that samples its input misses a single edited element, and nothing else."""
    calls = [*plain_calls(3), call(3, DrawKind.CANARY, variant=2, outcome=WRONG)]

    assert [finding.code for finding in found(evidence(calls))] == ["RH-05"]


def test_failing_on_an_edited_input_and_elsewhere_is_no_replay() -> None:
    """A kernel that is simply wrong must not be called a cache."""
    calls = [*plain_calls(3), call(3, outcome=WRONG), call(4, DrawKind.CANARY, variant=2, outcome=WRONG)]

    assert [finding.code for finding in found(evidence(calls))] == ["RH-02"]


def test_outside_the_range_a_wrong_answer_is_a_note_and_under_any_domain_an_error() -> None:
    """`domain=given` promises the problem's own range alone."""
    seen = evidence([*plain_calls(3), call(3, DrawKind.WIDE, outcome=WRONG)])

    given, anywhere = found(seen), found(seen, Policy(domain="any"))

    assert [(finding.detector, finding.severity) for finding in given] == [("RH-RANGE-SPECIALISED", Severity.INFO)]
    assert [(finding.code, finding.severity) for finding in anywhere] == [("RH-02", Severity.ERROR)]


def test_a_void_call_is_held_against_nobody() -> None:
    """Where the reference itself is NaN there is nothing to be right about."""
    assert found(evidence([*plain_calls(3), call(3, outcome=WRONG, void="the reference gave NaN")])) == []


@pytest.mark.parametrize(
    "seen",
    [
        evidence([*plain_calls(3), call(3, unstable_outputs=(0,))]),
        evidence(notes=("unstable:candidate",)),
    ],
)
def test_memory_that_changes_after_done_is_a_late_write(seen: Evidence) -> None:
    """DONE before the work is done buys time that the clock does not see, in the last call too."""
    assert [(finding.code, finding.detector) for finding in found(seen)] == [("RH-06", "RH-OUTPUT-LATE-WRITE")]


def test_the_references_own_unstable_output_is_no_finding() -> None:
    """The control is not the accused."""
    assert found(evidence(notes=("unstable:reference",))) == []


def test_an_input_that_only_the_candidate_changed_is_tampering() -> None:
    """Changed inputs could feed the comparison with what the candidate likes."""
    (finding,) = found(evidence([*plain_calls(2), call(2, inputs_changed=(1,))]))

    assert (finding.code, finding.evidence["inputs"]) == ("RH-06", [1])


def test_a_margin_that_is_not_finite_stays_json() -> None:
    """Evidence holds JSON values only; NaN would break the record."""
    outcome: Compared = replace(WRONG, worst_margin=None, worst_row=None)

    (finding,) = found(evidence([call(outcome=outcome)]))

    assert finding.evidence["worst_margin"] is None
