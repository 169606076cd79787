"""Whatever a candidate's process does, there is a verdict in bounded time, and nothing of it is left."""

import pytest
from ending_bench import Bench
from ending_programs import DEATHS, FLOODS, FORGERIES, HONEST, REACHES, RINGS_FOR_ITSELF, Ending

from kernelguard.terms.verdict import Integrity

BOUND_S = 15.0
GROUPS = {"deaths": DEATHS, "floods": FLOODS, "forgeries": FORGERIES, "reaches": REACHES}
CASES = [
    pytest.param(ending, id=ending.name)
    for name, endings in GROUPS.items()
    for ending in (*endings, Ending(name=f"honest after the {name}", source=HONEST, code=""))
]


@pytest.mark.parametrize("ending", CASES)
def test_it_ends_in_a_verdict_and_leaves_nothing(bench: Bench, ending: Ending) -> None:
    """An ending without a verdict stops a batch; a process or a file that stays meets the next candidate."""
    after = bench.judge(ending.source)

    assert after.seconds < BOUND_S
    assert not after.processes
    assert not after.files
    if ending.code:
        assert after.verdict.integrity is Integrity.FAIL, after.words
        assert ending.code in after.codes, after.words
    else:
        assert after.verdict.verified_correctness, after.words
        assert after.verdict.integrity is Integrity.PASS or bench.passes(ending.source), after.words


def test_a_candidate_that_rings_for_itself_harms_nobody_else(bench: Bench) -> None:
    """A referee that reads its own number back from the page ends with it, and a rejection becomes the host's failure.

    Whether the worker's extra turn spoils its own answer is a race, so that either verdict is right.
    """
    after = bench.judge(RINGS_FOR_ITSELF)

    assert after.verdict.integrity in (Integrity.PASS, Integrity.FAIL), after.words
    assert after.verdict.integrity is Integrity.FAIL or after.verdict.verified_correctness
    assert after.seconds < BOUND_S
    assert not after.processes  # the referee is still the same one
    assert not after.files
    assert bench.passes(HONEST)
