"""How a plan is cut into blocks: a first call by itself, a late block, bursts at the end, and no canary torn apart."""

from collections import Counter

import pytest

from kernelguard.terms.plan import BURSTS, LATE_GAP_S, PROBE_KINDS, SOLO_CALLS, DrawKind, Plan, draw_plan
from kernelguard.terms.policy import Policy

SIZES = [(1, 1), (10, 3), (100, 5), (250, 40)]
SEEDS = [f"{number:064x}" for number in range(12)]


def plans(perf: int, correct: int) -> list[Plan]:
    """Several plans of one size."""
    return [draw_plan(Policy(num_perf_trials=perf, num_correct_trials=correct), seed) for seed in SEEDS]


@pytest.mark.parametrize(("perf", "correct"), SIZES)
def test_a_plan_is_a_first_call_then_mixed_blocks_then_bursts(perf: int, correct: int) -> None:
    """The supervisor treats these three differently: another deadline for the first, none of the last for long kernels."""
    for plan in plans(perf, correct):
        first, *mixed, last = plan.blocks

        assert (first.warmup, len(first.calls), first.calls[0].kind) == (True, 1, DrawKind.PLAIN)
        assert last.bursts
        assert [call.kind for call in last.calls] == [DrawKind.BURST] * BURSTS
        assert mixed
        assert not any(block.warmup or block.bursts or not block.calls for block in mixed)
        assert not any(call.kind is DrawKind.BURST for block in mixed for call in block.calls)


@pytest.mark.parametrize(("perf", "correct"), SIZES)
def test_the_last_mixed_block_alone_is_late(perf: int, correct: int) -> None:
    """Work that was started early and left to finish, and caches with an expiry, have time to show."""
    for plan in plans(perf, correct):
        *before, late, _bursts = plan.blocks

        assert late.not_before_s == LATE_GAP_S > 0
        assert not any(block.not_before_s for block in before)
        assert any(call.scored for block in before for call in block.calls) or perf == 1


@pytest.mark.parametrize(("perf", "correct"), SIZES)
def test_a_canary_is_never_torn_apart_by_a_block(perf: int, correct: int) -> None:
    """Between blocks the supervisor may pause; its second sight is meant to come at once."""
    for plan in plans(perf, correct):
        for block in plan.blocks:
            variants = [call.variant for call in block.calls if call.kind is DrawKind.CANARY]

            assert variants == [0, 1, 2] * (len(variants) // 3)


def test_the_solo_block_is_plain_and_unscored_by_the_candidate() -> None:
    """It is the reference's control, with inputs that no later call repeats."""
    for plan in plans(10, 3):
        later = {seed for call in plan.calls for seed in call.input_seeds}

        assert len(plan.solo.calls) == SOLO_CALLS
        assert all(call.kind is DrawKind.PLAIN for call in plan.solo.calls)
        assert later.isdisjoint(seed for call in plan.solo.calls for seed in call.input_seeds)


def test_fp64_is_asked_for_on_every_probe_and_nowhere_else() -> None:
    """Precision is judged there; elsewhere fp64 would only cost time."""
    for plan in plans(20, 9):
        assert all(call.oracle == (call.kind in PROBE_KINDS) for call in plan.calls)


def test_every_kind_of_draw_is_in_a_default_plan() -> None:
    """A kind that is never drawn is a detector that never looks."""
    assert {call.kind for call in draw_plan(Policy(), SEEDS[0]).calls} == set(DrawKind)


def test_weights_inputs_and_device_seeds_are_drawn_apart() -> None:
    """A candidate that learns its device seed must not know its input from it."""
    plan = draw_plan(Policy(), SEEDS[3])
    inputs = {seed for call in plan.calls for seed in call.input_seeds}
    devices = [call.device_seed for call in plan.calls]

    assert len(set(devices)) == len(devices)
    assert plan.weight_seed not in inputs | set(devices)
    assert inputs.isdisjoint(devices)


def test_probes_have_variants_and_nothing_else_has() -> None:
    """A probe of one variant alone could be learned; a canary's variants mean new, again and edited."""
    calls = [call for plan in plans(20, 9) for call in plan.calls]
    probes = {call.variant for call in calls if call.kind in PROBE_KINDS}

    assert len(probes) > 50
    assert {call.variant for call in calls if call.kind in (DrawKind.PLAIN, DrawKind.BURST)} == {0}


def test_every_place_of_the_paper_is_as_likely_as_any_other() -> None:
    """Seven items, one of them scored: over 420 plans it stands 60 times at each place."""
    places: Counter[int] = Counter()
    for number in range(420):
        mixed = draw_plan(Policy(num_perf_trials=1, num_correct_trials=3), f"{number:064x}").blocks[1:-1]
        items = [call for block in mixed for call in block.calls if call.kind is not DrawKind.CANARY or call.variant == 0]
        places[next(place for place, call in enumerate(items) if call.scored)] += 1

    assert sorted(places) == list(range(7))
    assert all(30 < count < 95 for count in places.values())
