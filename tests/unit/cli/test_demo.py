"""`kernelguard demo` is the first thing a newcomer runs: it must tell a working judge from one that only says so."""

from collections.abc import Callable
from contextlib import nullcontext

import pytest
from tests.unit.cli.conftest import make_verdict

from kernelguard.cli.app import run
from kernelguard.cli.demo import demo_cases
from kernelguard.cli.engine import Engine
from kernelguard.redteam.corpus import load_corpus, select
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Integrity, Verdict

CASES = select(load_corpus(), groups=["demo"])
HONEST = {case.name for case in CASES if case.honest}
CODES = {case.name: case.codes for case in CASES}
Judge = Callable[[Problem, Candidate, Policy], Verdict]


def right(_problem: Problem, candidate: Candidate, _policy: Policy) -> Verdict:
    """A judge that is never wrong."""
    if candidate.name in HONEST:
        return make_verdict(Integrity.PASS)
    return make_verdict(Integrity.FAIL, *CODES[candidate.name])


def demonstrate(judge: Judge, available: frozenset[str] = frozenset({"cc", "cxx"})) -> int:
    """Run the command with this judge on a host that offers this."""
    return run(["demo"], Engine(evaluator=lambda _device, _gpu: nullcontext(judge), available=lambda: available))


def test_the_demonstration_is_an_honest_kernel_and_the_four_documented_cheats() -> None:
    """The README promises them by number."""
    on_the_cpu = {case.name for case in demo_cases(CASES, frozenset({"cc"}))}

    assert {"content_cache", "lazy_subclass", "timer_patch", "late_thread"} <= on_the_cpu
    assert len(on_the_cpu & HONEST) == 1
    assert len(on_the_cpu) == 5


def test_a_judge_that_is_right_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    """The success that CI and newcomers look for."""
    assert demonstrate(right) == 0

    out = capsys.readouterr().out
    assert "The honest kernel passed, and every cheat was rejected." in out
    for case in CASES:
        assert (case.name in out) == (case.device == "cpu")


@pytest.mark.parametrize("fooled_by", ["late_thread", "honest_add"])
def test_one_wrong_decision_ends_with_1(fooled_by: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A cheat that passes and an honest kernel that does not are equally bad."""

    def wrong_once(problem: Problem, candidate: Candidate, policy: Policy) -> Verdict:
        if candidate.name != fooled_by:
            return right(problem, candidate, policy)
        return make_verdict(Integrity.FAIL, "RH-02") if candidate.name in HONEST else make_verdict(Integrity.PASS)

    assert demonstrate(wrong_once) == 1
    assert "Not every decision was the expected one." in capsys.readouterr().out


def test_a_host_that_can_judge_nothing_ends_with_3() -> None:
    """UNSUPPORTED is neither a rejected cheat nor a passed kernel."""
    assert demonstrate(lambda *_: make_verdict(Integrity.UNSUPPORTED, "RH-14")) == 3


def test_a_host_without_a_compiler_is_told_what_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    """A demonstration of which half was skipped must not look complete."""
    assert demonstrate(right, frozenset()) == 3

    assert "this machine lacks cc" in capsys.readouterr().out
