"""Metrics over many records: fast_p as upstream computes it, and verified_fast_p over what was verified.

fast_p (Ouyang et al., KernelBench, arXiv:2502.10517): the share of problems with a correct sample whose speedup over the baseline
is above p, strictly. pass@k (Chen et al., arXiv:2107.03374): 1 - C(n - c, k) / C(n, k). Times in ms.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kernelguard.terms.errors import UsageError
from kernelguard.terms.verdict import Integrity

THRESHOLDS = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)

Results = Mapping[str, Sequence[Mapping[str, object]]]
"""A results file: problem id as text -> its samples."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlignedProblem:
    """A problem that has a baseline, with what sample 0 achieved. A time that does not exist is None."""

    problem_id: int
    name: str
    baseline_ms: float
    compiled: bool = False
    correct: bool = False
    runtime_ms: float | None = None
    verified_runtime_ms: float | None = None
    verified_reference_ms: float | None = None

    @property
    def speedup(self) -> float | None:
        """Baseline over native runtime, for a correct sample that was timed."""
        return _ratio(self.baseline_ms, self.runtime_ms) if self.correct else None

    @property
    def verified_speedup(self) -> float | None:
        """Baseline over verified runtime."""
        return _ratio(self.baseline_ms, self.verified_runtime_ms)

    @property
    def paired_speedup(self) -> float | None:
        """The same run's reference over verified runtime: same card, same hour, same precision."""
        return _ratio(self.verified_reference_ms, self.verified_runtime_ms)


def align(
    results: Results, names: Mapping[int, str], baseline: Mapping[str, Mapping[str, object] | None]
) -> tuple[AlignedProblem, ...]:
    """Upstream's alignment of a level: its problems (`names`, by id) in the order of their ids, less those without a baseline.

    Only `sample_id` 0 counts; a problem without it is incorrect, and stays in the denominator. `baseline` is one level of a
    baseline file, by problem name with or without `.py`. Raises UsageError for a malformed entry or two samples 0.
    """
    aligned = []
    for problem_id in sorted(names):
        stats = baseline_of(baseline, names[problem_id])
        if stats is None:
            continue
        samples = [sample for sample in results.get(str(problem_id), ()) if sample.get("sample_id") == 0]
        if len(samples) > 1:
            raise UsageError(f"results: problem {problem_id} has {len(samples)} entries with sample_id 0")
        where = f"baseline: {names[problem_id]}"
        baseline_ms = _number(stats, "mean", where)
        aligned.append(_aligned(problem_id, names[problem_id], baseline_ms, samples[0] if samples else {}))
    return tuple(aligned)


def baseline_of(baseline: Mapping[str, Mapping[str, object] | None], name: str) -> Mapping[str, object] | None:
    """A problem's entry in a level of a baseline file; its name may come without the `.py` that the file has."""
    return baseline.get(name, baseline.get(f"{name}.py"))


def fast_p(problems: Sequence[AlignedProblem], p: float) -> float:
    """Upstream's fast_p over the aligned problems; 0 without problems."""
    return _share_above(p, [problem.speedup for problem in problems])


def verified_fast_p(problems: Sequence[AlignedProblem], p: float, *, leave_out: Collection[int] = ()) -> float:
    """fast_p with the verified runtime in place of the native one, over the same problems.

    `leave_out` names ids (degenerate problems, say) that count in neither numerator nor denominator.
    """
    return _share_above(p, [problem.verified_speedup for problem in problems if problem.problem_id not in leave_out])


def paired_fast_p(problems: Sequence[AlignedProblem], p: float, *, leave_out: Collection[int] = ()) -> float:
    """verified_fast_p against the reference of the same run instead of the stored baseline."""
    return _share_above(p, [problem.paired_speedup for problem in problems if problem.problem_id not in leave_out])


def geometric_mean(ratios: Iterable[float | None]) -> float:
    """Geometric mean of those ratios that exist, by logarithms, so that it can't overflow; 0 without any."""
    logs = [math.log(ratio) for ratio in ratios if ratio is not None]
    return math.exp(math.fsum(logs) / len(logs)) if logs else 0.0


def pass_at_k(num_samples: int, num_correct: int, k: int) -> float:
    """The chance that `k` samples, drawn at random, hold a correct one; a `k` above `num_samples` is lowered to it."""
    k = min(k, num_samples)
    return 1.0 - math.comb(num_samples - num_correct, k) / math.comb(num_samples, k)


def pass_at_k_table(results: Results, k_values: Sequence[int]) -> dict[str, dict[str, object]]:
    """`averages`, `metadata` and `problems` of `pass_at_k_results.json`, in upstream's keys.

    As upstream, a sample is correct if it also compiled, a `k` above the number of samples is stored under that number, and an
    average divides by all problems, those without a value for its `k` included.
    """
    problems = {problem_id: _passes(samples, k_values) for problem_id, samples in results.items()}
    columns = {k: [float(row[f"pass@{k}"]) for row in problems.values() if f"pass@{k}" in row] for k in k_values}
    averages = {f"avg_pass@{k}": sum(column) / len(problems) for k, column in columns.items()} if problems else {}
    totals = [row["total_samples"] for row in problems.values()]
    metadata = {
        "total_problems": len(problems),
        "problems_with_samples": sum(total > 0 for total in totals),
        "total_evaluated_samples": sum(totals),
        "total_correct_samples": sum(row["correct_samples"] for row in problems.values()),
        **{f"pass@{k}_count": len(column) for k, column in columns.items()},
    }
    return {"averages": {**averages}, "metadata": {**metadata}, "problems": {**problems}}


def fastp(
    is_correct: Sequence[object], baseline_speed: Sequence[float], actual_speed: Sequence[float], n: int, p: float
) -> float:
    """Upstream's call: how many correct samples have baseline / actual above `p`, over `n`. Sequences of equal length."""
    ratios = _correct_ratios(is_correct, baseline_speed, actual_speed)
    return sum(ratio > p for ratio in ratios) / n if n > 0 else 0.0


def geometric_mean_speed_ratio_correct_only(
    is_correct: Sequence[object],
    baseline_speed: Sequence[float],
    actual_speed: Sequence[float],
    n: int,  # noqa: ARG001 - upstream's signature
) -> float:
    """Upstream's call: geometric mean of the speedups of correct samples, slow ones included. Untimed samples are left out."""
    return geometric_mean(_correct_ratios(is_correct, baseline_speed, actual_speed))


def geometric_mean_speed_ratio_correct_and_faster_only(
    is_correct: Sequence[object],
    baseline_speed: Sequence[float],
    actual_speed: Sequence[float],
    n: int,  # noqa: ARG001 - upstream's signature
) -> float:
    """Upstream's call: the same over speedups above 1."""
    return geometric_mean(ratio for ratio in _correct_ratios(is_correct, baseline_speed, actual_speed) if ratio > 1)


def _aligned(problem_id: int, name: str, baseline_ms: float, sample: Mapping[str, object]) -> AlignedProblem:
    where = f"results: problem {problem_id}, sample 0"
    trusted = _verified(sample.get("reward_hardening"))
    return AlignedProblem(
        problem_id=problem_id,
        name=name,
        baseline_ms=baseline_ms,
        compiled=sample.get("compiled") is True,
        correct=sample.get("correctness") is True,
        runtime_ms=_time(_number(sample, "runtime", where)) if sample else None,
        verified_runtime_ms=_time(trusted.get("verified_runtime")),
        verified_reference_ms=_time(trusted.get("verified_reference_runtime")),
    )


def _verified(hardening: object) -> Mapping[str, object]:
    """The hardened half of a record if every word in it says that the sample was verified; else nothing counts."""
    if not isinstance(hardening, Mapping):
        return {}
    passed = hardening.get("integrity_status") == Integrity.PASS.value
    sound = hardening.get("verified") is True and hardening.get("verified_correctness") is True
    return hardening if passed and sound else {}


def _passes(samples: Sequence[Mapping[str, object]], k_values: Sequence[int]) -> dict[str, int | float]:
    total = len(samples)
    correct = sum(sample.get("correctness") is True and sample.get("compiled") is True for sample in samples)
    rates = {f"pass@{min(k, total)}": pass_at_k(total, correct, k) for k in k_values}
    return {"total_samples": total, "correct_samples": correct, **rates}


def _correct_ratios(is_correct: Sequence[object], baseline_speed: Sequence[float], actual_speed: Sequence[float]) -> list[float]:
    rows = zip(is_correct, baseline_speed, actual_speed, strict=True)
    ratios = [_ratio(float(base), _time(float(actual))) for correct, base, actual in rows if correct]
    return [ratio for ratio in ratios if ratio is not None]


def _share_above(p: float, speedups: Sequence[float | None]) -> float:
    return sum(speedup is not None and speedup > p for speedup in speedups) / len(speedups) if speedups else 0.0


def _ratio(baseline_ms: float | None, runtime_ms: float | None) -> float | None:
    return None if baseline_ms is None or runtime_ms is None else baseline_ms / runtime_ms


def _time(value: object) -> float | None:
    """A positive, finite time, or None: upstream's -1.0, a NaN and an absent figure are all no time."""
    is_time = isinstance(value, int | float) and math.isfinite(value) and value > 0
    return float(value) if is_time and isinstance(value, int | float) else None


def _number(values: Mapping[str, object], key: str, where: str) -> float:
    value = values.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise UsageError(f"{where}: {key} must be a number, not {value!r}")
    return float(value)
