"""Nested values with tensors beside them: packed and unpacked they are the same, and a liar's text is refused."""

import gc
import json
import math
import weakref
from collections.abc import Callable
from contextlib import suppress

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelguard.terms.errors import WireError
from kernelguard.wire.tree import MAX_DEPTH, MAX_NODES, MAX_TEXT_BYTES, pack, unpack

FUZZ = settings(max_examples=300, deadline=None, database=None)


class Leaf:
    """Stands for a tensor."""


def taker(held: list[object]) -> Callable[[object], int | None]:
    """Takes leaves and tensors into `held`."""

    def take(item: object) -> int | None:
        if not isinstance(item, (Leaf, torch.Tensor)):
            return None
        held.append(item)
        return len(held) - 1

    return take


def round_trip(value: object) -> object:
    """What comes out of what went in."""
    held: list[object] = []
    return unpack(pack(value, taker(held)), held)


LEAVES = [Leaf() for _ in range(3)]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20) | st.sampled_from(LEAVES),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=25,
)


@FUZZ
@given(VALUES)
def test_what_is_packed_comes_back_equal_and_of_the_same_types(value: object) -> None:
    """Lists stay lists, tuples stay tuples, and every tensor comes back to its place."""
    assert repr(round_trip(value)) == repr(value)


def test_values_that_json_lacks_survive() -> None:
    """NaN and the infinities are honest arguments."""
    assert math.isnan(round_trip(math.nan))  # type: ignore[arg-type]  # a float went in
    assert round_trip([math.inf, -math.inf, -0.0, 2**80]) == [math.inf, -math.inf, -0.0, 2**80]


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", 1j, {1: 2}, range(3), lambda: None])
def test_what_can_not_cross_is_named(value: object) -> None:
    """The person who returned it should read which type it was."""
    with pytest.raises(WireError, match=type(value).__name__):
        pack(value, taker([]))


def test_nothing_keeps_a_packed_tensor_alive() -> None:
    """A reference cycle would hold every output until the collector comes by, and device memory with it."""
    gc.collect()
    gc.disable()
    try:
        tensor = torch.zeros(4)
        gone = weakref.ref(tensor)
        text = pack({"a": [tensor, (tensor,)]}, lambda item: 0 if isinstance(item, torch.Tensor) else None)
        value = unpack(text, [tensor])
        del tensor, value

        assert gone() is None
    finally:
        gc.enable()


def test_a_cycle_is_refused_like_any_depth() -> None:
    """A list inside itself must not end in a RecursionError."""
    ring: list[object] = []
    ring.append(ring)

    with pytest.raises(WireError):
        pack(ring, taker([]))


def test_depth_parts_and_text_are_bounded_on_both_ways() -> None:
    """Whoever packs may be hostile, and so may whoever wrote the text."""
    deep: object = None
    for _ in range(MAX_DEPTH + 2):
        deep = [deep]
    for value in (deep, [0] * (MAX_NODES + 1), "x" * (MAX_TEXT_BYTES + 1)):
        with pytest.raises(WireError):
            pack(value, taker([]))
    for text in (
        '{"l":[' * (MAX_DEPTH + 2) + "]}" * (MAX_DEPTH + 2),
        '{"l":[' + "0," * MAX_NODES + "0]}",
        " " * (1 << 21),
        "[" * 100_000,
    ):
        with pytest.raises(WireError):
            unpack(text, [])


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", '{"t":0}', '{"t":-1}', '{"t":1.0}', '{"t":"0"}', '{"f":"1"}', '{"l":{}}', '{"d":[["a"]]}', '{"d":[[1,2]]}',
     '{"d":{"a":1}}', '{"x":[]}', '{"l":[],"u":[]}', "", "nul", '{"d":[null]}', '{"f":["inf"]}'],
)  # fmt: skip
def test_text_that_pack_can_not_have_written_is_refused(text: str) -> None:
    """There is one way to write a value."""
    with pytest.raises(WireError):
        unpack(text, [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(list("tfludx")), inner, max_size=3),
    max_leaves=25,
)


@FUZZ
@given(st.one_of(st.text(max_size=60), JSON.map(json.dumps)))
def test_any_text_gives_a_value_or_a_wire_error(text: str) -> None:
    """Only WireError may leave the boundary."""
    with suppress(WireError):
        unpack(text, [Leaf(), Leaf()])
