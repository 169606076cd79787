"""Is the answer right? Checked against torch.allclose, against every position, and against what a tolerance hides."""

import math
import random

import pytest
import torch

from kernelguard.referee.compare import Tolerance, compare, has_nan, worst_relative_row
from kernelguard.terms.evidence import Compared
from kernelguard.terms.policy import Precision

FP32 = Tolerance.of(Precision.FP32)
SHAPES = [(), (1,), (7,), (300,), (3, 5), (2, 3, 4), (4, 40), (5, 1, 9), (1000,)]


def compared(expected: torch.Tensor, actual: torch.Tensor, tolerance: Tolerance = FP32) -> Compared:
    """One output against another."""
    return compare([expected], [actual], tolerance, [])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_native_correctness_is_allclose(dtype: torch.dtype) -> None:
    """Upstream's rule decides native correctness: on random errors around the border both must say the same."""
    pick = random.Random(1)
    precision = Precision.FP32 if dtype in (torch.float32, torch.float64) else Precision.FP16
    tolerance = Tolerance.of(precision)
    outcomes = set()
    for seed in range(120):
        torch.manual_seed(seed)
        expected = torch.randn(pick.choice(SHAPES)).to(dtype)
        noise = torch.randn(expected.shape, dtype=torch.float64) * tolerance.native * pick.choice((0.01, 0.3, 0.5, 1.0, 5.0))
        actual = (expected.double() + noise).to(dtype)
        wanted = torch.allclose(actual.double(), expected.double(), rtol=tolerance.native, atol=tolerance.native)
        outcomes.add(wanted)

        assert compared(expected, actual, tolerance).native_ok == wanted

    assert outcomes == {True, False}


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if math.prod(shape) <= 300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64])
def test_a_wrong_element_is_found_wherever_it_is(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """Full coverage: no position is left out, and the first bad one is named."""
    expected = torch.ones(shape, dtype=dtype)
    for place in range(expected.numel()):
        actual = expected.clone()
        actual.view(-1)[place] = 0

        seen = compared(expected, actual)

        assert not seen.native_ok
        assert seen.bad_elements == 1
        assert expected.dim() == 0 or seen.first_index == tuple(int(i) for i in torch.unravel_index(torch.tensor(place), shape))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_loses(value: float) -> None:
    """NaN compares false to everything; here false means wrong."""
    expected = torch.randn(4, 32)
    actual = expected.clone()
    actual[2, 3] = value

    seen = compared(expected, actual)

    assert not seen.native_ok
    assert not seen.rows_ok
    assert seen.worst_margin is None
    assert seen.first_index == (2, 3)


def test_an_expected_nan_is_matched_by_nothing() -> None:
    """Such a draw is void; if it were judged, nobody could pass it by returning NaN."""
    expected = torch.tensor([1.0, math.nan])

    assert not compared(expected, expected.clone()).native_ok
    assert has_nan([torch.ones(2), expected])
    assert not has_nan([torch.ones(2), torch.ones(2, dtype=torch.int32)])


def test_infinity_equals_infinity_of_the_same_sign_alone() -> None:
    """Masked attention has honest infinities."""
    expected = torch.tensor([math.inf, -math.inf, 1.0])

    assert compared(expected, expected.clone()).native_ok
    assert compared(expected, expected.clone()).rows_ok
    assert not compared(expected, -expected).native_ok
    assert not compared(expected, torch.tensor([3e38, -math.inf, 1.0])).native_ok


@pytest.mark.parametrize("base", [2**24, 2**53, 2**62])
def test_integers_compare_exactly_beyond_what_floats_can_hold(base: int) -> None:
    """In fp32 2**24 + 1 is 2**24; an index that is off by one is wrong."""
    expected = torch.tensor([base, base + 1])

    assert compared(expected, expected.clone()).native_ok
    assert not compared(expected, torch.tensor([base, base])).native_ok


def test_a_bad_row_that_the_native_tolerance_hides_is_caught() -> None:
    """Softmax over 65,536 columns has elements far below atol: a row of zeros passes allclose."""
    expected = torch.softmax(torch.rand(8, 65_536), dim=-1)
    actual = expected.clone()
    actual[5] = 0

    seen = compared(expected, actual)

    assert torch.allclose(expected, actual, rtol=1e-4, atol=1e-4)
    assert seen.native_ok
    assert not seen.rows_ok


def test_rounding_in_every_element_is_no_bad_row() -> None:
    """The honest neighbour: fp32 noise in all rows."""
    expected = torch.softmax(torch.randn(8, 4096), dim=-1)

    assert compared(expected, expected * (1 + 1e-6)).rows_ok


def test_a_row_of_zeros_in_an_output_of_zeros_is_right() -> None:
    """No relative error exists there, and none may be invented."""
    assert compared(torch.zeros(4, 32), torch.zeros(4, 32)).rows_ok


def test_an_empty_output_is_right_and_has_no_elements() -> None:
    """A maximum over nothing must not raise."""
    seen = compared(torch.empty(0, 3), torch.empty(0, 3))

    assert (seen.native_ok, seen.rows_ok, seen.elements) == (True, True, 0)


def test_huge_differences_do_not_overflow_into_right() -> None:
    """Squares of 1e30 are infinite in fp32."""
    expected = torch.ones(4, 32)
    actual = expected.clone()
    actual[1] = 1e30

    assert not compared(expected, actual).rows_ok


def test_the_second_output_counts_like_the_first() -> None:
    """All outputs, not the first alone; the bad one is named."""
    good = torch.randn(3, 20)

    seen = compare([good, good], [good.clone(), good + 1], FP32, [])

    assert (seen.native_ok, seen.first_output) == (False, 1)


def test_a_replay_is_wrong_here_and_right_for_an_earlier_input() -> None:
    """Only a wrong answer can be a replay: equal inputs give equal answers honestly."""
    old, new = torch.randn(4, 32), torch.randn(4, 32)

    assert compare([new], [old.clone()], FP32, [[old]]).replays
    assert not compare([new], [torch.zeros(4, 32)], FP32, [[old]]).replays
    assert not compare([old], [old.clone()], FP32, [[old]]).replays
    assert not compare([new], [old.clone()], FP32, [[old[:2]], [old.double()]]).replays


def test_the_relative_row_error_ignores_rows_that_are_nearly_zero() -> None:
    """Nothing is left there to be precise about, and everything elsewhere counts."""
    oracle = torch.ones(8, 32, dtype=torch.float64)
    oracle[0] = 1e-9
    noisy, wrong = oracle.float().clone(), oracle.float().clone()
    noisy[0] = 5e-9
    wrong[3] *= 1.01

    assert worst_relative_row([oracle], [noisy]) == pytest.approx(0, abs=1e-6)
    assert worst_relative_row([oracle], [wrong]) == pytest.approx(0.01, rel=1e-3)


def test_a_row_error_that_is_not_finite_is_unknown() -> None:
    """None is no measure; it never reads as precise."""
    oracle = torch.ones(4, 32, dtype=torch.float64)
    broken = oracle.float()
    broken[1, 1] = math.inf

    assert worst_relative_row([oracle], [broken]) is None
