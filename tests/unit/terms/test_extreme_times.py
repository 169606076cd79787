"""Times come from a hostile process: whatever finite number it claims, the statistics give numbers or None."""

import math

import pytest

from kernelguard.terms.samples import paired_ratio, quantile, summary


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e9])
def test_a_ratio_that_is_known_comes_out_at_any_scale(scale: float) -> None:
    """From nanoseconds to hours the ratio is the same, and its interval holds it."""
    ratio = paired_ratio([3.0 * scale] * 20, [2.0 * scale] * 20)

    assert ratio is not None
    middle, low, high = ratio
    assert middle == pytest.approx(1.5)
    assert low < 1.5 < high


def test_quantiles_are_interpolated_between_neighbours() -> None:
    """The chain's border is a quantile of eight values, where the nearest value would be off by an eighth."""
    values = [10.0, 0.0, 4.0, 1.0]

    assert [quantile(values, share) for share in (0.0, 0.5, 0.75, 0.9, 1.0)] == pytest.approx([0.0, 2.5, 5.5, 8.2, 10.0])
    assert quantile([3.0], 0.9) == 3.0


@pytest.mark.parametrize(("scale_ms", "width"), [(1.0, 0.0064), (0.01, 0.046)])
def test_equal_samples_are_as_uncertain_as_processes_differ(scale_ms: float, width: float) -> None:
    """Twice 0.15 % and 0.1 us each way: what the null test on an H200 measured."""
    ratio = paired_ratio([scale_ms] * 30, [scale_ms] * 30)

    assert ratio is not None
    assert ratio[2] - ratio[1] == pytest.approx(width, rel=0.02)


def test_ratios_of_no_pairs_and_of_unequal_lists_are_refused() -> None:
    """Nothing is known from nothing, and unpaired lists are a mistake of the caller."""
    assert paired_ratio([], []) is None
    assert paired_ratio([0.0] * 9, [1.0] * 9) is None
    with pytest.raises(ValueError, match="zip"):
        paired_ratio([1.0, 2.0], [1.0])


@pytest.mark.parametrize("claim_ms", [1e-7, 1e-9, 1e-300])
def test_a_tiny_claim_gives_a_wide_interval(claim_ms: float) -> None:
    """A forged elapsed time of a femtosecond must end in a finding, not in an exception of the evaluator."""
    ratio = paired_ratio([1.0] * 20, [claim_ms] * 20)

    assert ratio is None or not any(math.isnan(part) for part in ratio)


def test_mostly_zero_claims_give_a_ratio_of_the_rest_or_none() -> None:
    """Half of the calls claimed as zero is the cheapest forgery there is."""
    ratio = paired_ratio([1.0] * 5, [0.0, 0.0, 0.0, 1.0, 1.0])

    assert ratio is None or ratio[0] == pytest.approx(1.0)


def test_claims_below_zero_do_not_narrow_the_interval() -> None:
    """What is not a time is dropped; what remains has to be as uncertain as if it stood alone."""
    mixed = paired_ratio([0.01] * 5, [-1.0, -1.0, -1.0, 0.01, 0.01])
    alone = paired_ratio([0.01] * 2, [0.01] * 2)

    assert mixed is not None
    assert alone is not None
    assert mixed == pytest.approx(alone)


def test_huge_claims_have_a_summary() -> None:
    """A claim near the largest float is finite, so it gets in; it must not end the evaluation."""
    assert summary([1.7e308] * 5)["median"] == 1.7e308
