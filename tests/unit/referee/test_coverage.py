"""No element and no row escapes the comparison, whatever the shape, the chunk or the dtype."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelguard.referee.compare import CHUNK, TILE, Tolerance, compare, row_width
from kernelguard.terms.policy import Precision

FUZZ = settings(max_examples=250, deadline=None, database=None)
FP32 = Tolerance.of(Precision.FP32)
SHAPES = st.lists(st.integers(1, 20), max_size=4).map(tuple)


@FUZZ
@given(SHAPES, st.integers(0, 2**31), st.sampled_from([0.0, 0.3, 0.9, 0.99, 1.01, 1.1, 5.0]), st.sampled_from([1e-3, 1.0, 1e4]))
def test_the_native_verdict_is_that_of_allclose(shape: tuple[int, ...], seed: int, share: float, scale: float) -> None:
    """One element off by a share of its own tolerance, at a place that was not chosen for us."""
    torch.manual_seed(seed)
    expected = torch.randn(shape, dtype=torch.float64) * scale
    actual = expected.clone()
    place = seed % expected.numel()
    value = actual.view(-1)[place]
    value += share * (FP32.native + FP32.native * abs(float(value))) * (1 if seed % 2 else -1)

    seen = compare([expected], [actual], FP32, [])

    assert seen.native_ok == torch.allclose(actual, expected, rtol=FP32.native, atol=FP32.native) == (share < 1)
    assert seen.bad_elements == (share > 1)
    assert seen.worst_margin == pytest.approx(share, rel=1e-4, abs=1e-9)


@FUZZ
@given(SHAPES, st.integers(0, 2**31))
def test_a_wrong_row_is_caught_wherever_it_is(shape: tuple[int, ...], seed: int) -> None:
    """All values are far below the native tolerance, so only the row rule can see it; the last row may be a short one."""
    expected = torch.full(shape, 1e-5)
    width = row_width(shape)
    rows = -(-expected.numel() // width)
    row = seed % rows
    actual = expected.clone()
    actual.view(-1)[row * width : (row + 1) * width] = 0

    seen = compare([expected], [actual], FP32, [])

    assert seen.native_ok
    assert not seen.rows_ok
    assert compare([expected], [expected.clone()], FP32, []).rows_ok


@FUZZ
@given(st.lists(st.integers(1, 400), min_size=1, max_size=3).map(tuple))
def test_rows_are_whole_trailing_dimensions_or_tiles_of_a_vector(shape: tuple[int, ...]) -> None:
    """A row that mixes halves of two rows would dilute what is wrong in one of them."""
    width, total = row_width(shape), math.prod(shape)
    trailing = [math.prod(shape[start:]) for start in range(len(shape))]

    assert 1 <= width <= total
    assert width in trailing or (width == TILE and total > TILE)


@pytest.mark.parametrize("length", [TILE + 1, 2 * TILE - 1, 5 * TILE, 1000])
def test_the_last_tile_of_a_vector_counts_like_the_others(length: int) -> None:
    """A tail that no block of threads covers is the commonest honest mistake."""
    expected = torch.full((length,), 1e-5)
    actual = expected.clone()
    actual[length - 1 - (length - 1) % TILE :] = 0

    assert not compare([expected], [actual], FP32, []).rows_ok


def test_the_seam_of_two_chunks_and_a_last_partial_one_are_covered() -> None:
    """Large outputs are compared in pieces; the seam must not be a hiding place."""
    expected = torch.zeros(CHUNK + 77, dtype=torch.float16)
    actual = expected.clone()
    actual[[CHUNK - 1, CHUNK, CHUNK + 76]] = 1.0

    seen = compare([expected], [actual], Tolerance.of(Precision.FP16), [])

    assert (seen.native_ok, seen.rows_ok, seen.bad_elements, seen.first_index) == (False, False, 3, (CHUNK - 1,))


@FUZZ
@given(st.integers(-(2**63), 2**63 - 1), st.integers(1, 3))
def test_integers_that_differ_by_anything_are_wrong(value: int, step: int) -> None:
    """No conversion to floats anywhere."""
    other = value - step if value > 0 else value + step

    assert compare([torch.tensor([value])], [torch.tensor([value])], FP32, []).native_ok
    assert not compare([torch.tensor([value])], [torch.tensor([other])], FP32, []).native_ok


@pytest.mark.parametrize(
    "dtype",
    [
        torch.complex64,
        torch.complex128,
        *(pytest.param(dtype) for dtype in (torch.float8_e4m3fn, torch.float8_e5m2)),
    ],
)
def test_a_wrong_element_of_a_rare_dtype_is_found_and_named(dtype: torch.dtype) -> None:
    """Quantised problems return them; naming the first bad element must not end the referee."""
    expected = torch.ones(40).to(dtype)
    actual = expected.clone()
    actual.view(torch.uint8)[-dtype.itemsize :] = 0

    seen = compare([expected], [actual], FP32, [])

    assert (seen.native_ok, seen.first_index) == (False, (39,))
