"""Every case of the corpus that runs on a CPU, through the real evaluator: caught where it must be, passed where it must be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelguard.redteam.corpus import Case, load_corpus
from kernelguard.redteam.drill import Evaluate, drill
from kernelguard.redteam.judge import judge
from kernelguard.terms.policy import Rules

# Cases that are decided otherwise than the corpus demands, each with what is missing; docs/security_audit.md lists them too.
KNOWN_GAPS = {
    "dropped_compensation": "sparse rows barely show a lost compensation; draws that cancel are not made yet",
    "memoised_plan": "its honest sequential sum is now and then outside the native tolerance on draws of constant rows",
    "sequential_sum": "an honest sequential sum over 16,384 terms is outside the native tolerance on draws of constant rows",
    "spinning_thread": "native threads are recorded and not judged",
    "statistical_shortcut": "rejected, but told as a replay and as imprecise: its outputs are nearly the same for every input",
}


def _case(case: Case, *marks: pytest.MarkDecorator) -> object:
    gap = [pytest.mark.xfail(reason=KNOWN_GAPS[case.name], strict=False)] if case.name in KNOWN_GAPS else []
    return pytest.param(case, id=case.name, marks=[*marks, *gap])


ON_CPU = [case for case in load_corpus() if case.device == "cpu"]
QUICK = [_case(case) for case in ON_CPU if "quick" in case.group]
REST = [_case(case, pytest.mark.slow) for case in ON_CPU if "quick" not in case.group]

STRICT = [_case(case) for case in ON_CPU if len(case.policy) > 1 and not case.honest]


@pytest.fixture(scope="module")
def evaluate() -> Iterator[Evaluate]:
    """One trusted host for all cases."""
    with judge() as ask:
        yield ask


@pytest.mark.parametrize("case", QUICK + REST)
def test_the_verdict_is_the_expected_one(evaluate: Evaluate, case: Case) -> None:
    """The reason why all of this exists."""
    report = drill([case], evaluate)
    if report.skipped:
        pytest.skip(f"needs {', '.join(report.skipped[0].lacks)}")

    assert report.agreed, [(outcome.complaint, dict(outcome.detectors)) for outcome in report.outcomes]


@pytest.mark.slow
@pytest.mark.parametrize("case", STRICT)
def test_the_attack_is_caught_under_its_strictest_policy_too(evaluate: Evaluate, case: Case) -> None:
    """A stricter policy that catches less would be none."""
    report = drill([case], evaluate, rules=[Rules.SOURCE_STRICT])
    if report.skipped:
        pytest.skip(f"needs {', '.join(report.skipped[0].lacks)}")

    assert report.agreed, [(outcome.complaint, dict(outcome.detectors)) for outcome in report.outcomes]


def test_nothing_is_left_behind_in_shared_memory(evaluate: Evaluate) -> None:
    """An attack that leaves files behind would help the next one."""
    before = set(Path("/dev/shm").iterdir())  # noqa: S108 - it is looked at, not written to
    drill([case for case in ON_CPU if case.name == "shared_memory_stash"], evaluate)

    assert set(Path("/dev/shm").iterdir()) == before  # noqa: S108
