"""Stopwatches, statistics and baselines."""

import json
import time
from pathlib import Path

import pytest
import torch

from kernelbench import timing
from kernelbench.dataset import LocalKernelBenchDataset
from kernelguard.terms.errors import UsageError


def test_statistics_have_upstreams_keys_and_three_digits() -> None:
    """Golden: scores are computed from the rounded mean, so the rounding is part of the number."""
    assert timing.get_timing_stats([1.0, 2.0, 3.0, 4.5678]) == {
        "mean": 2.64, "std": 1.32, "min": 1.0, "max": 4.57, "num_trials": 4,
    }  # fmt: skip
    assert timing.get_timing_stats([0.0123456], device="cpu").keys() == {
        "mean", "std", "min", "max", "num_trials", "hardware", "device",
    }  # fmt: skip


def test_without_a_single_time_there_are_no_statistics() -> None:
    """NaN for the mean would pass for a figure further on."""
    with pytest.raises(ValueError, match="data"):
        timing.get_timing_stats([])


def test_host_time_warms_up_drops_the_first_and_counts_the_rest() -> None:
    """Three warm-ups, one dropped, five kept: the first calls pay for caches and modules."""
    calls = []

    def program(pause_s: float) -> None:
        calls.append(pause_s)
        time.sleep(pause_s)

    elapsed_ms = timing.time_execution_with_host_time(program, [0.002], num_trials=5, verbose=False, device="cpu")

    assert len(calls) == 3 + 1 + 5
    assert len(elapsed_ms) == 5
    assert min(elapsed_ms) >= 2.0


def test_an_unknown_stopwatch_is_a_value_error() -> None:
    """As upstream; the message lists what there is."""
    assert timing.get_timing_function("host_time") is timing.time_execution_with_host_time
    with pytest.raises(ValueError, match="cuda_event, host_time, do_bench, do_bench_impl"):
        timing.get_timing_function("sundial")


def test_the_cuda_stopwatches_refuse_a_cpu() -> None:
    """They would otherwise fail deep inside CUDA."""
    with pytest.raises(UsageError, match="host_time"):
        timing.time_execution_with_cuda_event(print, [], device="cpu")


def test_a_reference_is_timed_with_its_own_inputs(reference: str) -> None:
    """This is how a baseline file is made."""
    stats = timing.measure_ref_program_time(
        "linear", reference, num_warmup=1, num_trials=3, timing_method="host_time", device="cpu", precision="bf16"
    )

    assert stats is not None
    assert stats["num_trials"] == 3


def test_a_reference_that_can_not_be_timed_is_none_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    """Upstream's contract: callers write null into the baseline file and go on."""
    stats = timing.measure_ref_program_time("nothing", "1 / 0", timing_method="host_time", device="cpu")

    assert stats is None
    assert "nothing: the reference does not load" in capsys.readouterr().err


def test_a_baseline_is_found_with_and_without_the_suffix(tmp_path: Path) -> None:
    """Files key by `1_Add.py`, the public dataset names it `1_Add`; upstream finds nothing for the latter."""
    (tmp_path / "level1").mkdir()
    (tmp_path / "level1" / "1_Add.py").write_text("")
    problems = LocalKernelBenchDataset(1, str(tmp_path))
    hub_like = LocalKernelBenchDataset(1, str(tmp_path))
    hub_like.get_problem_by_id(1).name = "1_Add"
    file = tmp_path / "baseline.json"
    file.write_text(json.dumps({"level1": {"1_Add.py": {"mean": 2.5}}}))

    assert timing.fetch_baseline_time("level1", 1, problems, file) == {"mean": 2.5}
    assert timing.fetch_baseline_time("level1", 1, hub_like, file) == {"mean": 2.5}
    with pytest.raises(FileNotFoundError):
        timing.fetch_baseline_time("level1", 1, problems, tmp_path / "absent.json")


@pytest.mark.gpu
@pytest.mark.parametrize("method", ["cuda_event", "host_time", "do_bench", "do_bench_impl"])
def test_every_stopwatch_agrees_on_a_long_kernel(method: str) -> None:
    """An 8192 by 8192 fp32 product takes tens of milliseconds on any card; no method may be far from the other."""
    a = torch.rand(8192, 8192, device="cuda")

    def median_ms(name: str) -> float:
        elapsed_ms = timing.get_timing_function(name)(torch.mm, [a, a], num_trials=5, verbose=False)
        return sorted(elapsed_ms)[len(elapsed_ms) // 2]

    assert median_ms(method) == pytest.approx(median_ms("cuda_event"), rel=0.1)


@pytest.mark.parametrize("name", ["baseline_time_torch", "baseline_time_torch_compile_inductor_default"])
def test_the_published_baselines_cover_every_problem_of_the_package(name: str) -> None:
    """A name that differs would drop its problem from fast_p without a word."""
    path = Path(__file__).parents[2] / "results" / "timing" / "H100_Modal" / f"{name}.json"
    baseline = json.loads(path.read_text())

    for level, count in ((1, 100), (2, 100), (3, 50)):
        entries = baseline[f"level{level}"]
        assert len(entries) == count
        assert all(0 < entry["min"] <= entry["mean"] <= entry["max"] for entry in entries.values())
        assert {problem.name for problem in LocalKernelBenchDataset(level)} == entries.keys()
