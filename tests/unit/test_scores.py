"""Metrics over many records: upstream's numbers, and ours beside them."""

import math
from collections.abc import Mapping

import pytest

from kernelguard.reporting import scores
from kernelguard.reporting.scores import AlignedProblem, align
from kernelguard.terms.errors import UsageError

NAMES = {1: "1_A.py", 2: "2_B.py", 3: "3_C", 10: "10_D.py", 11: "11_E.py"}
BASELINE: Mapping[str, Mapping[str, object] | None] = {
    "1_A.py": {"mean": 4.0},
    "2_B.py": {"mean": 4.0},
    "3_C.py": {"mean": 4.0},
    "10_D.py": {"mean": 4.0},
    "11_E.py": None,
}


def sample(runtime: float, *, correct: bool = True, number: int = 0, **hardening: object) -> dict[str, object]:
    """One entry of a results file."""
    entry: dict[str, object] = {"sample_id": number, "compiled": True, "correctness": correct, "metadata": {}, "runtime": runtime}
    return entry | ({"reward_hardening": hardening} if hardening else {})


def verified(runtime_ms: float, reference_ms: float | None = None) -> dict[str, object]:
    """The hardened half of a record that was verified."""
    return {
        "integrity_status": "PASS",
        "verified": True,
        "verified_correctness": True,
        "verified_runtime": runtime_ms,
        "verified_reference_runtime": reference_ms,
    }


def test_fast_p_is_upstreams() -> None:
    """Golden: upstream's own test values. Correct samples above p, strictly, over n."""
    correct, baseline, actual = [1, 1, 1, 1, 0], [0.24, 0.31, 100.0, 0.0001, 0.3], [0.3, 0.3, 200.0, 0.0001, 0.3]

    assert [scores.fastp(correct, baseline, actual, 5, p) for p in (1.0, 0.5)] == [0.2, 0.6]
    assert scores.fastp([0] * 5, baseline, actual, 5, 0.0) == 0
    assert scores.fastp([], [], [], 0, 1.0) == 0
    assert scores.fastp([True], [2.0], [1.0], 1, 2.0) == 0


def test_geometric_means_are_upstreams() -> None:
    """Golden: upstream's own test values."""
    correct, baseline, actual = [1, 0, 1, 1, 0], [0.1, 0.15, 0.2, 0.05, 0.3], [0.2, 0.15, 0.3, 0.01, 0.2]

    assert scores.geometric_mean_speed_ratio_correct_only(correct, baseline, actual, 5) == pytest.approx(1.185631101)
    assert scores.geometric_mean_speed_ratio_correct_and_faster_only(correct, baseline, actual, 5) == pytest.approx(5)
    assert scores.geometric_mean_speed_ratio_correct_only([0] * 5, baseline, actual, 5) == 0


def test_a_geometric_mean_neither_overflows_nor_turns_into_nan() -> None:
    """Upstream's product is inf for a hundred large speedups, and NaN as soon as a correct sample could not be timed."""
    assert scores.geometric_mean_speed_ratio_correct_only([1] * 100, [1e4] * 100, [1.0] * 100, 100) == pytest.approx(1e4)
    assert scores.geometric_mean_speed_ratio_correct_only([1, 1], [4.0, 4.0], [2.0, -1.0], 2) == pytest.approx(2)


def test_sequences_of_different_length_are_refused() -> None:
    """Cut to the shortest they would give a wrong score in silence."""
    with pytest.raises(ValueError, match="shorter"):
        scores.fastp([1, 1], [1.0], [1.0, 1.0], 2, 1.0)


def test_alignment_follows_upstream() -> None:
    """Order of ids; only sample 0; a missing problem is incorrect and counts; a problem without baseline does not."""
    results = {"10": [sample(1.0)], "2": [sample(8.0, number=1)], "1": [sample(9.0, number=1), sample(2.0)], "11": [sample(1.0)]}

    aligned = align(results, NAMES, BASELINE)

    assert [problem.problem_id for problem in aligned] == [1, 2, 3, 10]
    assert [problem.correct for problem in aligned] == [True, False, False, True]
    assert [problem.speedup for problem in aligned] == [2.0, None, None, 4.0]
    assert scores.fast_p(aligned, 1.0) == 0.5
    assert scores.fast_p(aligned, 2.0) == 0.25
    assert scores.geometric_mean(problem.speedup for problem in aligned) == pytest.approx(math.sqrt(8))


def test_a_correct_sample_without_a_time_counts_nowhere() -> None:
    """As upstream: -1.0 is below every threshold, fast_0 included."""
    aligned = align({"1": [sample(-1.0)], "2": [sample(4.0)]}, NAMES, BASELINE)

    assert scores.fast_p(aligned, 0.0) == 0.25


def test_two_first_samples_and_missing_fields_are_refused() -> None:
    """Which of the two would count, or what a missing time means, is not ours to guess."""
    with pytest.raises(UsageError, match="problem 1 has 2 entries with sample_id 0"):
        align({"1": [sample(1.0), sample(2.0)]}, NAMES, BASELINE)
    with pytest.raises(UsageError, match="problem 2, sample 0: runtime must be a number"):
        align({"2": [{"sample_id": 0, "correctness": True}]}, NAMES, BASELINE)
    with pytest.raises(UsageError, match=r"baseline: 1_A\.py: mean must be a number"):
        align({}, {1: "1_A.py"}, {"1_A.py": {"mean": "fast"}})


def test_verified_fast_p_counts_verified_runtimes_over_the_same_problems() -> None:
    """The native time may say 8x; only what was verified counts, and the denominator stays."""
    results = {
        "1": [sample(0.5, **verified(2.0, 1.0))],
        "2": [sample(0.5, **{**verified(1.0), "integrity_status": "SUSPICIOUS", "verified": False})],
        "3": [sample(0.5)],
    }

    aligned = align(results, NAMES, BASELINE)

    assert scores.fast_p(aligned, 1.0) == 0.75
    assert scores.verified_fast_p(aligned, 1.0) == 0.25
    assert scores.verified_fast_p(aligned, 2.0) == 0.0
    assert scores.paired_fast_p(aligned, 0.0) == 0.25
    assert scores.paired_fast_p(aligned, 0.5) == 0.0


@pytest.mark.parametrize(
    "change",
    [
        {"integrity_status": "FAIL"},
        {"integrity_status": None},
        {"verified": False},
        {"verified": "yes"},
        {"verified_correctness": False},
        {"verified_runtime": None},
        {"verified_runtime": 0.0},
        {"verified_runtime": float("nan")},
        {"verified_runtime": "1.0"},
    ],
)
def test_a_record_that_contradicts_itself_earns_nothing(change: dict[str, object]) -> None:
    """Files can be edited: every word of the record has to agree before its time counts."""
    aligned = align({"1": [sample(1.0, **(verified(1.0) | change))]}, NAMES, BASELINE)

    assert scores.verified_fast_p(aligned, 0.0) == 0.0


def test_degenerate_problems_can_be_left_out_of_both_halves() -> None:
    """A problem that zeros pass says nothing about a kernel; the second figure is over the others."""
    aligned = (
        AlignedProblem(problem_id=1, name="a", baseline_ms=4.0, verified_runtime_ms=1.0),
        AlignedProblem(problem_id=2, name="b", baseline_ms=4.0),
    )

    assert scores.verified_fast_p(aligned, 1.0) == 0.5
    assert scores.verified_fast_p(aligned, 1.0, leave_out={2}) == 1.0
    assert scores.verified_fast_p(aligned, 1.0, leave_out={1}) == 0.0
    assert scores.verified_fast_p(aligned, 1.0, leave_out={1, 2}) == 0.0


def test_pass_at_k_is_the_unbiased_estimator() -> None:
    """1 - C(n - c, k) / C(n, k), not 1 - (1 - c/n)^k; a k above n means n."""
    assert scores.pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert scores.pass_at_k(10, 3, 5) == pytest.approx(1 - 21 / 252)
    assert scores.pass_at_k(10, 0, 5) == 0.0
    assert scores.pass_at_k(3, 1, 10) == 1.0
    assert scores.pass_at_k(0, 0, 1) == 0.0


def test_the_pass_at_k_table_has_upstreams_keys_and_averages() -> None:
    """Golden: the structure of pass_at_k_results.json, with upstream's way of counting a k above the number of samples."""
    results = {
        "1": [sample(1.0), sample(1.0, number=1, correct=False)],
        "2": [sample(1.0, correct=False), {"sample_id": 1, "compiled": False, "correctness": True}, sample(1.0, number=2)],
    }

    assert scores.pass_at_k_table(results, [1, 3]) == {
        "averages": {"avg_pass@1": pytest.approx((1 / 2 + 1 / 3) / 2), "avg_pass@3": 0.5},
        "metadata": {
            "total_problems": 2,
            "problems_with_samples": 2,
            "total_evaluated_samples": 5,
            "total_correct_samples": 2,
            "pass@1_count": 2,
            "pass@3_count": 1,
        },
        "problems": {
            "1": {"total_samples": 2, "correct_samples": 1, "pass@1": 0.5, "pass@2": 1.0},
            "2": {"total_samples": 3, "correct_samples": 1, "pass@1": pytest.approx(1 / 3), "pass@3": 1.0},
        },
    }
    assert scores.pass_at_k_table({}, [1])["averages"] == {}
