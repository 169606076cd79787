"""A canary's third call: one element is another one, inside the range of the problem, whatever the input is."""

import math
from collections.abc import Callable

import pytest
import torch

from kernelguard.referee.draws import edit

SEEDS = range(40)


def edited(make: Callable[[], torch.Tensor]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Before and after, for several seeds."""
    pairs = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        before = make()
        after = before.clone()
        edit([after], seed=seed)
        pairs.append((before, after))
    return pairs


@pytest.mark.parametrize("make", [lambda: torch.rand(50), lambda: torch.randn(7, 9), lambda: torch.rand(3, 4).half()])
def test_exactly_one_element_differs_and_the_result_notices(make: Callable[[], torch.Tensor]) -> None:
    """An edit that a sampled checksum sees would not test a sampled checksum; one too small to matter would test nothing."""
    for before, after in edited(make):
        changed = before != after

        assert int(changed.sum()) == 1
        assert float((before - after).abs().max()) >= 0.4 * float(before.abs().max())


def test_the_same_seed_edits_the_same_element() -> None:
    """Reference and candidate are asked the same, and a revealed plan repeats."""
    one, other, again = torch.ones(99) / 2, torch.ones(99) / 2, torch.ones(99) / 2
    for tensor, seed in ((one, 5), (again, 5), (other, 1 << 63)):
        tensor[0] = 1.0
        edit([tensor], seed=seed)

    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_over_seeds_every_place_gets_edited() -> None:
    """A place that is never edited is a place that a cache need not look at."""
    places = set()
    for seed in range(300):
        tensor = torch.linspace(0.1, 1.0, 12)
        edit([tensor], seed=seed)
        places.add(int((tensor != torch.linspace(0.1, 1.0, 12)).nonzero()))

    assert places == set(range(12))


@pytest.mark.parametrize(
    ("make", "low", "high"),
    [
        pytest.param(lambda: torch.rand(50) + 1, 1.0, 2.0, id="positive"),
        pytest.param(lambda: -torch.rand(50), -1.0, 0.0, id="negative"),
        pytest.param(lambda: torch.randint(0, 2, (50,)).float() * 2 - 1.5, -1.5, 0.5, id="two values"),
    ],
)
def test_an_edit_stays_between_the_smallest_and_the_largest_value(
    make: Callable[[], torch.Tensor], low: float, high: float
) -> None:
    """A divisor or the argument of a logarithm becomes 0 otherwise, and an honest kernel reads `cache` in its verdict."""
    assert all(bool(((after >= low) & (after <= high)).all()) for _, after in edited(make))


def test_a_mask_keeps_its_values() -> None:
    """Minus infinity may become zero, but plus infinity makes the whole row NaN and the call void."""
    mask = torch.tensor([0.0, -math.inf]).repeat(20)

    assert all(set(after.tolist()) <= {0.0, -math.inf} for _, after in edited(mask.clone))


def test_a_transposed_input_can_be_edited() -> None:
    """`get_inputs` may return `torch.rand(4, 5).T`: the referee keeps its layout, so an edit has to take it."""
    made = torch.rand(4, 5).T
    before = made.clone()
    edit([made], seed=1)

    assert int((made != before).sum()) == 1
