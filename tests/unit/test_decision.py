"""From findings and capabilities to one status: worst first, refusal by default, a runtime exactly for PASS."""

import itertools
from dataclasses import replace

import pytest
from evidence_builder import RIGHT, WRONG, call, evidence, plain_calls, side_call

from kernelguard.decision import decide
from kernelguard.terms.evidence import Compared, Evidence, Fault, LoadFailure, Refused
from kernelguard.terms.findings import Capability, CapabilityStatus, Finding, Severity
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy
from kernelguard.terms.verdict import Integrity, Verdict


def finding(severity: Severity, code: str = "RH-01") -> Finding:
    """Somebody's opinion."""
    return Finding(code=code, detector="RH-TEST", severity=severity, summary="seen")


def capability(status: CapabilityStatus, *, required: bool, name: str = "oracle") -> Capability:
    """What a host could see."""
    return Capability(name=name, status=status, required=required, detail="why")


MISSING = capability(CapabilityStatus.UNSUPPORTED, required=True)
OPTIONAL = capability(CapabilityStatus.UNSUPPORTED, required=False)
PARTIAL = capability(CapabilityStatus.PARTIAL, required=True)


def decided(
    severities: tuple[Severity, ...] = (), capabilities: tuple[Capability, ...] = (), seen: Evidence | None = None
) -> Verdict:
    """The verdict on honest evidence with these findings and capabilities."""
    return decide([finding(severity) for severity in severities], capabilities, seen or evidence(), Policy())


@pytest.mark.parametrize(
    ("severities", "capabilities", "expected"),
    [
        ((), (), Integrity.PASS),
        ((Severity.INFO,), (), Integrity.PASS),
        ((Severity.WARNING,), (), Integrity.SUSPICIOUS),
        ((Severity.ERROR,), (), Integrity.FAIL),
        ((Severity.WARNING, Severity.ERROR), (), Integrity.FAIL),
        ((Severity.INFO, Severity.WARNING), (), Integrity.SUSPICIOUS),
        ((), (OPTIONAL,), Integrity.PASS),
        ((), (MISSING,), Integrity.UNSUPPORTED),
        ((), (PARTIAL,), Integrity.UNSUPPORTED),
        ((Severity.WARNING,), (MISSING,), Integrity.UNSUPPORTED),
        ((Severity.ERROR,), (MISSING,), Integrity.FAIL),  # a caught candidate does not hide behind a weak host
    ],
)
def test_the_worst_opinion_decides(
    severities: tuple[Severity, ...], capabilities: tuple[Capability, ...], expected: Integrity
) -> None:
    """One table, one order of precedence."""
    assert decided(severities, capabilities).integrity is expected


def test_a_runtime_exists_exactly_for_pass() -> None:
    """Whatever the mix of findings and capabilities, nothing but PASS carries a verified figure."""
    choices = itertools.product(
        itertools.chain.from_iterable(itertools.combinations(Severity, size) for size in range(4)), ((), (MISSING,), (OPTIONAL,))
    )
    for severities, capabilities in choices:
        verdict = decided(tuple(severities), capabilities)

        assert (verdict.integrity is Integrity.PASS) == (verdict.verified_runtime_ms is not None)
        assert bool(verdict.verified_runtime_stats) == (verdict.integrity is Integrity.PASS)
        assert verdict.observed_runtime_stats


def test_the_runtime_is_the_median_of_scored_event_times() -> None:
    """Probes, canaries and first calls do not count, and one outlier does not move it."""
    times = [1.0, 1.0, 2.0, 3.0, 90.0]
    calls = [call(number, candidate=side_call(time)) for number, time in enumerate(times)]
    calls += [call(5, DrawKind.SPARSE, candidate=side_call(0.1)), call(6, scored=False, candidate=side_call(0.1))]

    verdict = decided(seen=evidence(calls))

    assert verdict.verified_runtime_ms == 2.0
    assert verdict.verified_runtime_stats["num_trials"] == 5


def test_nothing_measured_is_never_a_pass() -> None:
    """Refusal by default: no scored call, no trust, even when nobody complained."""
    assert decided(seen=evidence([call(0, scored=False)])).integrity is Integrity.FAIL
    assert decided(seen=Evidence()).integrity is Integrity.FAIL
    assert decided(seen=evidence(plain_calls(5, candidate=side_call(claimed_event_ms=-1.0)))).integrity is Integrity.FAIL


@pytest.mark.parametrize("code", ["RH-02", "RH-05", "RH-06"])
def test_correctness_is_not_verified_beside_a_finding_about_the_output(code: str) -> None:
    """A replayed or late output is no right one, even if its values were."""
    verdict = decide([finding(Severity.ERROR, code)], (), evidence(), Policy())

    assert not verdict.verified_correctness


def test_right_answers_stay_right_beside_other_findings() -> None:
    """A forged clock says nothing about the values."""
    assert decide([finding(Severity.ERROR, "RH-07")], (), evidence(), Policy()).verified_correctness


NOT_RIGHT = [WRONG, replace(RIGHT, rows_ok=False), None, Refused(fault=Fault.SHAPE, detail="x")]


@pytest.mark.parametrize("outcome", NOT_RIGHT)
def test_one_call_that_is_not_right_unverifies_correctness(outcome: Compared | Refused | None) -> None:
    """All judged calls count, scored or not, and a call without an outcome is not a right one."""
    seen = evidence([*plain_calls(20), call(20, scored=False, outcome=outcome)])

    assert not decide([finding(Severity.ERROR, "RH-14")], (), seen, Policy()).verified_correctness


@pytest.mark.parametrize("outcome", NOT_RIGHT)
def test_a_wrong_call_fails_even_if_no_detector_noticed(outcome: Compared | Refused | None) -> None:
    """Refusal by default: a gap between detectors and decision must end in FAIL, never in an exception of the evaluator."""
    assert decided(seen=evidence([*plain_calls(20), call(20, outcome=outcome)])).integrity is Integrity.FAIL


def test_a_wrong_answer_outside_the_range_does_not_unverify() -> None:
    """Under domain=given those calls are a note."""
    assert decided(seen=evidence([*plain_calls(20), call(20, DrawKind.WIDE, outcome=WRONG)])).verified_correctness


def test_a_void_call_neither_proves_nor_disproves() -> None:
    """Where the reference is no measure the call is left out of the judgement."""
    assert decided(seen=evidence([*plain_calls(20), call(20, scored=False, outcome=None, void="NaN")])).verified_correctness


def test_a_refused_candidate_fails_without_a_measurement() -> None:
    """Preflight ends here: no import, upstream's fields say false."""
    verdict = decide([finding(Severity.ERROR, "RH-03")], (), None, Policy())

    assert verdict.integrity is Integrity.FAIL
    assert (verdict.native.compiled, verdict.native.correctness, verdict.native.runtime_ms) == (False, False, -1.0)
    assert not verdict.observed_runtime_stats


def test_a_host_without_cuda_is_unsupported_and_says_so() -> None:
    """Exactly the words of the published example record."""
    verdict = decide((), [capability(CapabilityStatus.UNSUPPORTED, required=True, name="cuda_runtime")], None, Policy())

    assert verdict.integrity is Integrity.UNSUPPORTED
    assert [one.detector for one in verdict.findings] == ["RH-CUDA-UNAVAILABLE"]
    assert verdict.native.metadata == {"reward_hardening_unsupported": "CUDA unavailable"}


def test_native_correctness_ignores_rows_and_probes() -> None:
    """Upstream knows neither; its field must say what upstream would say."""
    calls = [*plain_calls(4, outcome=replace(RIGHT, rows_ok=False)), call(4, DrawKind.SPARSE, outcome=WRONG)]

    verdict = decide([finding(Severity.ERROR, "RH-02")], (), evidence(calls), Policy())

    assert verdict.native.correctness
    assert verdict.native.metadata["correctness_trials"] == "(4 / 4)"
    assert not verdict.verified_correctness


def test_native_times_are_means_to_three_digits_and_absent_when_wrong() -> None:
    """Upstream reports no runtime for a wrong kernel, and the mean of a right one."""
    times = [1.23456, 1.23456, 2.0]
    right = decided(seen=evidence([call(number, candidate=side_call(time)) for number, time in enumerate(times)]))
    wrong = decided((Severity.ERROR,), seen=evidence([*plain_calls(3), call(3, outcome=WRONG)]))

    assert right.native.runtime_ms == 1.49
    assert right.native.runtime_stats["num_trials"] == 3
    assert (wrong.native.runtime_ms, wrong.native.runtime_stats) == (-1.0, {})
    assert wrong.native.ref_runtime_ms == 1.0
    assert wrong.native.metadata["correctness_issue"] == "Output mismatch"


@pytest.mark.parametrize(
    ("stage", "name"),
    [("build", "compilation_error"), ("import", "compilation_error"), ("construct", "runtime_error"), ("move", "runtime_error")],
)
def test_a_program_that_did_not_load_was_not_compiled(stage: str, name: str) -> None:
    """Upstream's metadata names the error by its stage."""
    failure = LoadFailure(stage=stage, error="ValueError: no", text="")

    native = decided((Severity.ERROR,), seen=Evidence(load_failure=failure)).native

    assert not native.compiled
    assert (native.metadata[name], native.metadata[f"{name}_name"]) == ("ValueError: no", "ValueError")


def test_limitations_list_whatever_could_not_be_seen() -> None:
    """A reader has to know what PASS did not cover."""
    supported = capability(CapabilityStatus.SUPPORTED, required=True, name="clock")

    assert decided(capabilities=(OPTIONAL, supported)).limitations == ("oracle: why",)


def test_native_metadata_says_why_an_answer_was_refused() -> None:
    """Upstream's readers look here first."""
    refused = Refused(fault=Fault.RAISED, detail="ValueError: no such kernel")

    metadata = decided((Severity.ERROR,), seen=evidence([*plain_calls(2), call(2, outcome=refused)])).native.metadata

    assert metadata["correctness_issue"] == "ValueError: no such kernel"
    assert metadata["correctness_trials"] == "(2 / 3)"
    assert "correctness_issue" not in decided().native.metadata
