"""Layouts: dense means that the bytes are exactly the elements, by counting them; views land where their strides say."""

import itertools

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelguard.gate.memory import flat_bytes, input_view, is_dense, same_bytes
from kernelguard.wire.gate_messages import InputSpec

FUZZ = settings(max_examples=400, deadline=None, database=None)


def fills_a_range(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """By counting: every element's place, from 0 on, without a hole or a place taken twice."""
    places = [
        sum(i * stride for i, stride in zip(index, strides, strict=True)) for index in itertools.product(*(map(range, shape)))
    ]
    return sorted(places) == list(range(len(places)))


@st.composite
def layouts(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Small shapes with strides that are dense about half of the time."""
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=4)))
    order = draw(st.permutations(range(len(shape))))
    strides, step = [0] * len(shape), 1
    for dimension in order:
        strides[dimension] = step
        step *= shape[dimension]
    for dimension in draw(st.sets(st.sampled_from(range(len(shape))), max_size=2)) if shape else ():
        strides[dimension] = draw(st.integers(-2, 20))
    return shape, tuple(strides)


@FUZZ
@given(layouts())
def test_dense_is_what_counting_says(layout: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """A hole would let the referee copy bytes of others, an overlap would let one number stand for many."""
    assert is_dense(*layout) == fills_a_range(*layout)


@FUZZ
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_an_input_arrives_in_the_worker_as_the_referee_laid_it_out(shape: list[int], data: st.DataObject) -> None:
    """Bytes are poured in memory order; the view must put every element back to its index."""
    order = data.draw(st.permutations(range(len(shape))))
    tensor = torch.arange(float(torch.tensor(shape).prod())).view(shape).permute(order)
    slot = torch.full((4 * tensor.numel() + 12,), 255, dtype=torch.uint8)
    slot[: 4 * tensor.numel()].copy_(flat_bytes(tensor))

    view = input_view(slot, InputSpec(slot=0, dtype="float32", shape=tuple(tensor.shape), strides=tensor.stride()))

    assert torch.equal(view, tensor)
    assert view.stride() == tensor.stride()
    assert bool((slot[4 * tensor.numel() :] == 255).all())


@FUZZ
@given(st.binary(min_size=1, max_size=64), st.integers(0, 63), st.integers(1, 255))
def test_bytes_that_differ_in_one_place_are_not_the_same(data: bytes, place: int, flip: int) -> None:
    """The second look compares bytes, so that even NaN and -0.0 count as what they are."""
    one = torch.tensor(list(data), dtype=torch.uint8)
    other = one.clone()
    other[place % len(data)] ^= flip

    assert same_bytes(one, one.clone())
    assert not same_bytes(one, other)
