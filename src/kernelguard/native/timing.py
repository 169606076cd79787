"""Upstream's stopwatches, under upstream's names. Each returns one time in milliseconds a trial.

All of them run in the candidate's process and read clocks that the candidate can reach: figures, no evidence. `cuda_event` sees
the current stream alone. `host_time` has the cache flush inside its window, because the flush is queued and not waited for.
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import torch

from kernelguard.native.devices import hardware_name, resolve_device, synchronize
from kernelguard.terms.errors import UsageError

L2_FLUSH_SHAPE = (32, 1024, 1024)  # of int64: 256 MiB, more than the L2 of any card so far
DO_BENCH_WARMUP_MS = 25
DO_BENCH_BUDGET_MS = 100

Program = Callable[..., object]
Stopwatch = Callable[..., list[float]]


def clear_l2_cache(device: torch.device | str | int = "cuda") -> None:
    """Queue a write of 256 MiB on the current stream of a CUDA device. On a CPU nothing is flushed and calls run warm."""
    if torch.device(device).type == "cuda":
        torch.empty(L2_FLUSH_SHAPE, dtype=torch.int64, device=device).fill_(42)


def clear_l2_cache_triton(cache: torch.Tensor | None = None, device: torch.device | str | int = "cuda") -> None:
    """Flush by Triton's own means; `cache` is Triton's buffer for it, made anew if None."""
    from triton import runtime  # noqa: PLC0415 - Triton is optional

    with torch.cuda.device(device):
        driver = runtime.driver.active
        driver.clear_cache(driver.get_empty_cache_for_benchmark() if cache is None else cache)


def time_execution_with_cuda_event(  # noqa: PLR0913, PLR0917 - upstream's signature
    kernel_fn: Program,
    args: Sequence[object],
    num_warmup: int = 3,
    num_trials: int = 10,
    discard_first: int = 1,
    verbose: bool = True,  # noqa: FBT001, FBT002 - upstream's signature
    device: torch.device | str | int | None = None,
) -> list[float]:
    """CUDA events around each call, the L2 flushed before it. The first `discard_first` of all calls are left out."""
    device = _cuda_only(device, "cuda_event")
    with torch.cuda.device(device):
        _warm_up(kernel_fn, args, num_warmup, device)
        torch.cuda.empty_cache()
        elapsed_ms = []
        for _ in range(num_trials + discard_first):
            torch.cuda.synchronize(device)
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            clear_l2_cache(device)
            start.record()
            _held = kernel_fn(*args)  # until the next call, as upstream: the allocator alternates between two blocks
            end.record()
            torch.cuda.synchronize(device)
            elapsed_ms.append(start.elapsed_time(end))
    return _kept(elapsed_ms, discard_first, verbose)


def time_execution_with_host_time(  # noqa: PLR0913, PLR0917 - upstream's signature
    kernel_fn: Program,
    args: Sequence[object],
    num_warmup: int = 3,
    num_trials: int = 10,
    discard_first: int = 1,
    verbose: bool = True,  # noqa: FBT001, FBT002 - upstream's signature
    device: torch.device | str | int | None = None,
) -> list[float]:
    """Wall time of each call until every stream of the device is idle. The only stopwatch for `device="cpu"`."""
    device = resolve_device(device)
    _warm_up(kernel_fn, args, num_warmup, device)
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elapsed_ms = []
    for _ in range(num_trials + discard_first):
        synchronize(device)
        clear_l2_cache(device)
        start = time.perf_counter()
        kernel_fn(*args)
        synchronize(device)
        elapsed_ms.append((time.perf_counter() - start) * 1000)
    return _kept(elapsed_ms, discard_first, verbose)


def time_execution_with_do_bench_interface(  # noqa: PLR0913, PLR0917 - upstream's signature
    kernel_fn: Program,
    args: Sequence[object],
    num_warmup: int = 3,  # noqa: ARG001 - Triton fits the number of calls to its time budget
    num_trials: int = 10,  # noqa: ARG001
    discard_first: int = 1,  # noqa: ARG001
    verbose: bool = True,  # noqa: ARG001, FBT001, FBT002
    device: torch.device | str | int | None = None,
) -> list[float]:
    """`triton.testing.do_bench` with its budgets of 25 ms warm-up and 100 ms; it chooses the number of trials itself."""
    from triton import testing  # noqa: PLC0415 - Triton is optional

    with torch.cuda.device(_cuda_only(device, "do_bench")):
        return list(
            testing.do_bench(lambda: kernel_fn(*args), warmup=DO_BENCH_WARMUP_MS, rep=DO_BENCH_BUDGET_MS, return_mode="all")
        )


def time_execution_with_do_bench_impl(  # noqa: PLR0913, PLR0917 - upstream's signature
    kernel_fn: Program,
    args: Sequence[object],
    num_warmup: int = 3,
    num_trials: int = 10,
    discard_first: int = 1,  # noqa: ARG001 - nothing is dropped, as upstream
    verbose: bool = True,  # noqa: FBT001, FBT002
    device: torch.device | str | int | None = None,
) -> list[float]:
    """The scheme of `do_bench` with fixed counts: flush and call are queued back to back, and waited for once, at the end."""
    from triton import runtime  # noqa: PLC0415 - Triton is optional

    device = _cuda_only(device, "do_bench_impl")
    with torch.cuda.device(device):
        kernel_fn(*args)
        torch.cuda.synchronize(device)
        driver = runtime.driver.active
        cache = driver.get_empty_cache_for_benchmark()
        events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(num_trials)]
        for _ in range(num_warmup):
            kernel_fn(*args)
        torch.cuda.synchronize(device)
        for start, end in events:
            driver.clear_cache(cache)
            start.record()
            kernel_fn(*args)
            end.record()
        torch.cuda.synchronize(device)
    return _kept([start.elapsed_time(end) for start, end in events], 0, verbose)


STOPWATCHES: dict[str, Stopwatch] = {
    "cuda_event": time_execution_with_cuda_event,
    "host_time": time_execution_with_host_time,
    "do_bench": time_execution_with_do_bench_interface,
    "do_bench_impl": time_execution_with_do_bench_impl,
}


def get_timing_function(method: str = "cuda_event") -> Stopwatch:
    """The stopwatch of that name; ValueError, as upstream, for a name that is not in `STOPWATCHES`."""
    if method not in STOPWATCHES:
        raise ValueError(f"timing_method={method!r}: must be one of {', '.join(STOPWATCHES)}")
    return STOPWATCHES[method]


def require_stopwatch(method: str, device: torch.device) -> None:
    """Raise UsageError if `method` can't time on `device`, before anything is built."""
    if device.type == "cpu" and method != "host_time":
        raise UsageError(f"timing_method={method}: needs CUDA; on device=cpu say timing_method=host_time")
    if method.startswith("do_bench") and find_spec("triton") is None:
        raise UsageError(f"timing_method={method}: needs Triton, which is not installed")


def get_timing_stats(elapsed_times: Sequence[float], device: torch.device | str | int | None = None) -> dict[str, object]:
    """`mean`, `std` (of the population), `min`, `max` to three significant digits, `num_trials`, and where it was measured.

    Raises ValueError without a single time.
    """
    stats: dict[str, object] = {
        "mean": _three_digits(statistics.fmean(elapsed_times)),
        "std": _three_digits(statistics.pstdev(elapsed_times)),
        "min": _three_digits(min(elapsed_times)),
        "max": _three_digits(max(elapsed_times)),
        "num_trials": len(elapsed_times),
    }
    if device is not None:
        where = resolve_device(device)
        stats |= {"hardware": hardware_name(where), "device": str(where)}
    return stats


def _three_digits(value: float) -> float:
    return float(f"{value:.3g}")


def _warm_up(kernel_fn: Program, args: Sequence[object], count: int, device: torch.device) -> None:
    for _ in range(count):
        kernel_fn(*args)
        synchronize(device)


def _kept(elapsed_ms: list[float], discard_first: int, verbose: bool) -> list[float]:  # noqa: FBT001
    kept = elapsed_ms[discard_first:]
    if verbose:
        for number, value in enumerate(kept, 1):
            sys.stderr.write(f"Trial {number}: {value:.3g} ms\n")
    return kept


def _cuda_only(device: torch.device | str | int | None, method: str) -> torch.device:
    resolved = resolve_device(device)
    require_stopwatch(method, resolved)
    return resolved
