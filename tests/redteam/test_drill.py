"""The drill compares decisions with expectations; here a scripted evaluator decides."""

import io
import json
from collections.abc import Callable

import pytest
from rich.console import Console

from kernelguard.redteam.corpus import Case, select
from kernelguard.redteam.drill import DrillReport, drill, hardest, policy_for, to_json, to_summary_json, to_table
from kernelguard.terms.errors import HostError
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Mode, Policy, Rules
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Integrity, Verdict

EVERYTHING = frozenset({"cuda", "triton", "cc", "cxx", "nvcc", "landlock", "x86_64"})
PASSES = Verdict(integrity=Integrity.PASS, verified_correctness=True, verified_runtime_ms=1.0)


def fails(*codes: str) -> Verdict:
    """A verdict FAIL with a finding for each code."""
    findings = tuple(Finding(code=code, detector=f"RH-{code}", severity=Severity.ERROR, summary="found") for code in codes)
    return Verdict(integrity=Integrity.FAIL, verified_correctness=False, verified_runtime_ms=None, findings=findings)


def scripted(verdicts: dict[str, Verdict]) -> Callable[[Problem, Candidate, Policy], Verdict]:
    """An evaluator that has a verdict ready for each candidate's name."""

    def decide(_problem: Problem, candidate: Candidate, _policy: Policy) -> Verdict:
        return verdicts[candidate.name]

    return decide


def run(cases: tuple[Case, ...], verdicts: dict[str, Verdict]) -> DrillReport:
    """The named cases under the verdicts, where everything is available."""
    return drill(select(cases, names=verdicts), scripted(verdicts), available=EVERYTHING)


def test_right_decisions_agree(cases: tuple[Case, ...]) -> None:
    """The command's exit code 0 rests on this."""
    report = run(cases, {"honest_add": PASSES, "content_cache": fails("RH-05", "RH-16")})

    assert report.agreed
    assert [outcome.complaint for outcome in report.outcomes] == ["", ""]


@pytest.mark.parametrize(
    ("name", "verdict", "complaint"),
    [
        ("content_cache", PASSES, "expected REJECT, got PASS"),
        ("honest_add", fails("RH-02"), "expected PASS, got FAIL"),
        ("content_cache", fails("RH-16"), "expected one of RH-05, RH-06, found RH-16"),
        ("content_cache", fails(), "found nothing"),
    ],
)
def test_a_wrong_decision_is_named(cases: tuple[Case, ...], name: str, verdict: Verdict, complaint: str) -> None:
    """An attack that passes, a twin that fails, and a rejection for another reason are three different complaints."""
    report = run(cases, {name: verdict})

    assert not report.agreed
    assert complaint in report.outcomes[0].complaint


def test_what_the_host_could_not_judge_is_no_rejection(cases: tuple[Case, ...]) -> None:
    """UNSUPPORTED means that nothing was caught, however little was awarded."""
    unsupported = Verdict(integrity=Integrity.UNSUPPORTED, verified_correctness=False, verified_runtime_ms=None)

    report = run(cases, {"content_cache": unsupported})

    assert "got UNSUPPORTED" in report.outcomes[0].complaint


def test_a_case_that_this_host_cannot_run_is_skipped_and_said_so(cases: tuple[Case, ...]) -> None:
    """A skipped case must be visible, and a drill in which nothing ran must not look well."""
    report = drill(select(cases, names=["triton_add"]), scripted({}), available=frozenset({"cc"}))

    assert report.skipped[0].lacks == ("cuda", "triton")
    assert not report.agreed


def test_an_evaluator_that_breaks_is_a_disagreement_and_the_drill_goes_on(cases: tuple[Case, ...]) -> None:
    """One lost host must not hide what the other cases show."""

    def breaks(_problem: Problem, candidate: Candidate, _policy: Policy) -> Verdict:
        if candidate.name == "content_cache":
            raise HostError("the referee is gone")
        return PASSES

    report = drill(select(cases, names=["content_cache", "honest_add"]), breaks, available=EVERYTHING)

    assert [outcome.status for outcome in report.outcomes] == ["ERROR", "PASS"]
    assert "the referee is gone" in report.outcomes[0].complaint


def test_each_case_runs_where_its_expectation_is_hardest_to_meet(cases: tuple[Case, ...]) -> None:
    """A twin must survive the strictest rules, and an attack must be caught without a look at its source."""
    by_name = {case.name: case for case in cases}

    assert hardest(by_name["honest_add"]) is Rules.SOURCE_STRICT
    assert hardest(by_name["content_cache"]) is Rules.BEHAVIOUR
    assert hardest(by_name["torch_fallback"]) is Rules.SOURCE_STRICT


def test_rules_that_are_asked_for_are_the_ones_that_run(cases: tuple[Case, ...]) -> None:
    """`--policy` given twice means both, for the cases that name them."""
    chosen = select(cases, names=["honest_add", "torch_fallback"])
    verdicts = {"honest_add": PASSES, "torch_fallback": fails("RH-03")}

    report = drill(chosen, scripted(verdicts), rules=[Rules.SOURCE_STRICT, Rules.BEHAVIOUR], available=EVERYTHING)

    assert [(outcome.case.name, outcome.rules.value) for outcome in report.outcomes] == [
        ("honest_add", "source_strict"),
        ("honest_add", "behaviour"),
        ("torch_fallback", "source_strict"),
    ]


def test_the_policy_is_enforcing_and_as_short_as_asked(cases: tuple[Case, ...]) -> None:
    """`--timeout` is the time of one worker; on the card, where kernels are compiled first, it is never too short for that."""
    by_name = {case.name: case for case in cases}
    on_host = policy_for(by_name["honest_add"], Rules.BEHAVIOUR, 2.0)
    on_card = policy_for(by_name["triton_add"], Rules.BEHAVIOUR, 2.0)

    assert (on_host.mode, on_host.device, on_host.limits.timeout_s) == (Mode.ENFORCE, "cpu", 2.0)
    assert on_card.device == "cuda"
    assert on_card.limits.timeout_s > 60


def test_the_records_hold_what_was_expected_and_what_came(cases: tuple[Case, ...]) -> None:
    """Both files are read by people and programs long after the run."""
    report = run(cases, {"honest_add": PASSES, "content_cache": PASSES})

    full, summary = json.loads(to_json(report)), json.loads(to_summary_json(report))

    assert full["summary"] == summary
    assert (summary["attacks"], summary["attacks_rejected"], summary["honest_passed"]) == (1, 0, 1)
    assert "content_cache (behaviour): expected REJECT, got PASS" in summary["disagreements"]
    assert {entry["case"]: entry["agreed"] for entry in full["results"]} == {"content_cache": False, "honest_add": True}


def test_the_table_shows_every_evaluation_and_every_skipped_case(cases: tuple[Case, ...]) -> None:
    """What is not shown is not missed."""
    names = ["honest_add", "triton_add"]
    report = drill(select(cases, names=names), scripted({"honest_add": PASSES}), available=frozenset({"cc"}))
    console = Console(width=160, record=True, file=io.StringIO())

    console.print(to_table(report))
    text = console.export_text()

    assert "honest_add" in text
    assert "needs cuda, triton" in text
