"""Upstream's stopwatches, statistics and baselines. Times in milliseconds.

They read clocks in the process that runs the program: for programs that one trusts, such as the references.
"""

import json
import os
import sys
from pathlib import Path
from typing import cast

import torch

from kernelbench.dataset import BaseDataset
from kernelguard.native.baseline import Compilation, Measurement, time_reference
from kernelguard.native.numerics import dtype_of
from kernelguard.native.timing import (
    clear_l2_cache,
    clear_l2_cache_triton,
    get_timing_function,
    get_timing_stats,
    time_execution_with_cuda_event,
    time_execution_with_do_bench_impl,
    time_execution_with_do_bench_interface,
    time_execution_with_host_time,
)
from kernelguard.reporting.scores import baseline_of
from kernelguard.terms.errors import KernelGuardError

__all__ = [
    "clear_l2_cache",
    "clear_l2_cache_triton",
    "fetch_baseline_time",
    "get_timing_function",
    "get_timing_stats",
    "measure_program_time",
    "measure_ref_program_time",
    "time_execution_with_cuda_event",
    "time_execution_with_do_bench_impl",
    "time_execution_with_do_bench_interface",
    "time_execution_with_host_time",
]


def measure_ref_program_time(  # noqa: PLR0913, PLR0917 - upstream's signature
    ref_arch_name: str,
    ref_arch_src: str,
    num_warmup: int = 5,
    num_trials: int = 100,
    discard_first: int = 1,
    timing_method: str = "cuda_event",
    use_torch_compile: bool = False,  # noqa: FBT001, FBT002
    torch_compile_backend: str = "inductor",
    torch_compile_options: str | None = "default",
    device: torch.device | str | int | None = None,
    verbose: bool = False,  # noqa: FBT001, FBT002
    precision: str | torch.dtype = "fp32",
) -> dict[str, object] | None:
    """Statistics of a problem's `Model`, eager or under `torch.compile`, in this process.

    `device=None` is the current CUDA device. The result is None if the model can't be timed, and stderr says why;
    `kernelguard.native.baseline.time_reference` raises instead.
    """
    compilation = Compilation(backend=torch_compile_backend, mode=torch_compile_options) if use_torch_compile else None
    try:
        stats = time_reference(
            ref_arch_src,
            Measurement(
                num_warmup=num_warmup,
                num_trials=num_trials,
                discard_first=discard_first,
                timing_method=timing_method,
                device=device,
                dtype=dtype_of(precision) if isinstance(precision, str) else precision,
                compilation=compilation,
                verbose=verbose,
            ),
        )
    except (KernelGuardError, ValueError) as error:
        sys.stderr.write(f"{ref_arch_name}: {error}\n")
        return None
    if verbose:
        sys.stderr.write(f"{ref_arch_name} {stats}\n")
    return stats


measure_program_time = measure_ref_program_time


def fetch_baseline_time(
    level_name: str, problem_id: int, dataset: BaseDataset, baseline_time_filepath: str | os.PathLike[str]
) -> dict[str, object] | None:
    """The statistics that a baseline file holds for a problem, by its name with or without `.py`; None if it holds none.

    Raises FileNotFoundError without the file, KeyError without the level.
    """
    path = Path(baseline_time_filepath)
    if not path.exists():
        raise FileNotFoundError(f"baseline file not found: {path}")
    level = json.loads(path.read_text(encoding="utf-8"))[level_name]
    return cast("dict[str, object] | None", baseline_of(level, dataset.get_problem_by_id(problem_id).name))
