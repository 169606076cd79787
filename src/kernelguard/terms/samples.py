"""Statistics of timed samples, in ms. Pure Python, so that every layer may use them; NaN never gets in (see `finite`)."""

import math
import random
import statistics
from collections.abc import Sequence

MAD_TO_SIGMA = 1.4826  # of a normal distribution
MEDIAN_EFFICIENCY = 1.2533  # standard error of a median over that of a mean, sqrt(pi / 2)
BOOTSTRAP_ROUNDS = 1000
BOOTSTRAP_BLOCK = 5
# What two processes that run the same kernel differ by: where their memory lies. Measured on an H200 by null tests
# (bench/results/h200_null_and_spread.json): up to 0.5 % at 0.1 ms and 1.9 % at 0.012 ms, which no number of samples
# within one process shows.
PROCESS_SHARE = 0.0015
PROCESS_MS = 0.0001
MAX_LOG = 700.0  # beyond it exp overflows
MIN_TIME_MS = 1e-9
SCALED_ABOVE = 1e150  # squares of larger numbers overflow


def finite(values: Sequence[float]) -> list[float]:
    """The finite ones."""
    return [value for value in values if math.isfinite(value)]


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, interpolated. Raises ValueError for no values."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def spread(values: Sequence[float]) -> float:
    """A standard deviation that outliers do not move: 1.4826 times the median absolute deviation. 0 for fewer than two."""
    if len(values) < 2:
        return 0.0
    middle = statistics.median(values)
    return MAD_TO_SIGMA * statistics.median(abs(value - middle) for value in values)


def median_error(values: Sequence[float]) -> float:
    """Standard error of the median. Infinite for fewer than two values: nothing is known then."""
    return MEDIAN_EFFICIENCY * spread(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def summary(values: Sequence[float]) -> dict[str, float]:
    """median, mean, std, min, max, p10, p90 and num_trials; empty for no values."""
    if not values:
        return {}
    largest = max(abs(value) for value in values)
    unit = largest if largest > SCALED_ABOVE else 1.0
    scaled = [value / unit for value in values]
    return {
        "median": statistics.median(scaled) * unit,
        "mean": statistics.fmean(scaled) * unit,
        "std": statistics.stdev(scaled) * unit if len(values) > 1 else 0.0,
        "min": min(values),
        "max": max(values),
        "p10": quantile(values, 0.1),
        "p90": quantile(values, 0.9),
        "num_trials": len(values),
    }


def three_digits(value: float) -> float:
    """Rounded to three significant digits, as upstream's get_timing_stats does."""
    return float(f"{value:.3g}")


def paired_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> tuple[float, float, float] | None:
    """Median of paired ratios with a 95 % interval, widened by twice what processes differ by.

    Block bootstrap of log-ratios, so that slow drift does not narrow it. None for fewer than two pairs of positive times.
    """
    kept = [(a, b) for a, b in zip(numerators, denominators, strict=True) if a > 0 and b > 0]
    if len(kept) < 2:
        return None
    logs = [math.log(a) - math.log(b) for a, b in kept]
    pick = random.Random(0)  # noqa: S311 - resampling, not a secret; fixed so that a record repeats exactly
    size = min(BOOTSTRAP_BLOCK, len(logs))
    rounds = -(-len(logs) // size)
    medians = sorted(
        statistics.median(value for _ in range(rounds) for value in _block(logs, pick.randrange(len(logs)), size))
        for _ in range(BOOTSTRAP_ROUNDS)
    )
    middle = statistics.median(logs)
    shorter = min(statistics.median(a for a, _ in kept), statistics.median(b for _, b in kept))
    process = min(MAX_LOG, 2 * (PROCESS_SHARE + PROCESS_MS / max(shorter, MIN_TIME_MS)))
    low = middle - math.hypot(middle - quantile(medians, 0.025), process)
    high = middle + math.hypot(quantile(medians, 0.975) - middle, process)
    return _ratio(middle), _ratio(low), _ratio(high)


def _ratio(logarithm: float) -> float:
    return math.exp(max(-MAX_LOG, min(MAX_LOG, logarithm)))


def _block(values: Sequence[float], start: int, size: int) -> list[float]:
    """`size` consecutive values, going round at the end."""
    return [values[(start + step) % len(values)] for step in range(size)]
