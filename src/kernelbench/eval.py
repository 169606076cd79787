"""Evaluate a candidate against its reference: upstream's entry point, with the hardened evaluation beside the native one."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import torch
from pydantic import ValidationError

from kernelbench.dataset import BaseDataset, construct_kernelbench_dataset
from kernelbench.loading import (
    TemporaryModule,
    load_custom_model,
    load_custom_model_with_tempfile,
    load_original_model_and_inputs,
)
from kernelbench.precompile import build_compile_cache, build_compile_cache_with_capturing
from kernelguard.native.attempts import clip
from kernelguard.native.attempts import error_name as get_error_name
from kernelguard.native.correctness import Trials, run_trials
from kernelguard.native.devices import resolve_device
from kernelguard.native.messages import NativeRequest, NativeResult
from kernelguard.native.numerics import dtype_of, name_of, set_seed, tolerance_of
from kernelguard.supervision.native import run_native
from kernelguard.terms.errors import UsageError

__all__ = [
    "KernelExecResult",
    "build_compile_cache",
    "build_compile_cache_with_capturing",
    "check_metadata_serializable_all_types",
    "eval_kernel_against_ref",
    "fetch_ref_arch_from_level_problem_id",
    "fetch_ref_arch_from_problem_id",
    "get_error_name",
    "get_tolerance_for_precision",
    "get_torch_dtype_from_string",
    "graceful_eval_cleanup",
    "load_custom_model",
    "load_custom_model_with_tempfile",
    "load_original_model_and_inputs",
    "register_and_format_exception",
    "run_and_check_correctness",
    "set_seed",
]

DEFAULT_TIMEOUT_S = 900.0


class KernelExecResult(NativeResult):
    """Upstream's fields (times in ms, -1.0 for none), and in audit and enforce the hardened half of the record."""

    reward_hardening: dict[str, object] | None = None


def eval_kernel_against_ref(  # noqa: PLR0913, PLR0917 - upstream's signature, ours after the star
    original_model_src: str,
    custom_model_src: str,
    seed_num: int = 42,
    num_correct_trials: int = 1,
    num_perf_trials: int = 10,
    measure_performance: bool = False,  # noqa: FBT001, FBT002
    timing_method: str = "cuda_event",
    verbose: bool = False,  # noqa: FBT001, FBT002
    build_dir: str | os.PathLike[str] | None = None,
    device: torch.device | int | str | None = None,
    backend: str = "cuda",
    precision: torch.dtype = torch.float32,
    check_for_excessive_speedup: bool = True,  # noqa: FBT001, FBT002
    excessive_speedup_threshold: float = 10,
    *,
    reward_hardening_mode: str = "off",
    reward_hardening_policy: str = "source_strict",
    timeout: float = DEFAULT_TIMEOUT_S,
) -> KernelExecResult:
    """Evaluate one candidate. Always returns a result for it, whatever it does; `device=None` is the current CUDA device.

    `reward_hardening_mode=off` is the native evaluation in a process of its own, killed after `timeout` seconds. `audit` and
    `enforce` are the hardened one, with secret seeds and a clock out of the candidate's reach: `seed_num`, `timing_method`,
    `build_dir`, `verbose` and the excessive-speedup options mean nothing there, and `timeout` is for each worker.

    Raises UsageError for arguments that can't be, ProblemError for a reference that does not run, HostError for a host that
    can't evaluate (the hardened modes have results for the last two).
    """
    where = "cuda" if device is None else str(torch.device(device))
    build = None if build_dir is None else os.fspath(build_dir)
    request = _request(
        {"reference_src": original_model_src, "candidate_src": custom_model_src, "seed_num": seed_num, "verbose": verbose},
        {"num_correct_trials": num_correct_trials, "num_perf_trials": num_perf_trials, "timing_method": timing_method},
        {"measure_performance": measure_performance, "check_for_excessive_speedup": check_for_excessive_speedup},
        {"excessive_speedup_threshold": excessive_speedup_threshold, "precision": name_of(precision)},
        {"build_dir": build, "device": where, "backend": backend},
    )
    if reward_hardening_mode == "off":
        return KernelExecResult.model_validate(run_native(request, timeout_s=timeout).model_dump())
    from kernelbench.hardened import evaluate_hardened  # noqa: PLC0415 - the native evaluation needs none of it

    record = evaluate_hardened(request, mode=reward_hardening_mode, rules=reward_hardening_policy, timeout_s=timeout)
    return KernelExecResult.model_validate(record)


def run_and_check_correctness(  # noqa: PLR0913, PLR0917 - upstream's signature
    original_model_instance: torch.nn.Module,
    new_model_instance: torch.nn.Module,
    get_inputs_fn: Callable[[], Sequence[object]],
    metadata: dict[str, object],
    num_correct_trials: int,
    verbose: bool = False,  # noqa: FBT001, FBT002
    seed: int = 42,
    device: torch.device | int | str | None = None,
    backend: str = "cuda",  # noqa: ARG001 - upstream's, which does not use it either
    precision: torch.dtype = torch.float32,
) -> KernelExecResult:
    """The correctness trials alone, in this process, on models that are already built. Fills `metadata`."""
    trials = Trials(seed=seed, count=num_correct_trials, device=resolve_device(device), dtype=precision, verbose=verbose)
    correct = run_trials(original_model_instance, new_model_instance, get_inputs_fn, trials, metadata)
    return KernelExecResult(compiled=True, correctness=correct, metadata=metadata)


def get_torch_dtype_from_string(precision: str) -> torch.dtype:
    """`fp32`, `fp16` or `bf16` as a dtype; UsageError for anything else."""
    return dtype_of(precision)


def get_tolerance_for_precision(precision: str | torch.dtype) -> float:
    """Absolute and relative tolerance of the comparison: 1e-4 for fp32, 1e-2 for fp16 and bf16."""
    return tolerance_of(dtype_of(precision) if isinstance(precision, str) else precision)


def fetch_ref_arch_from_problem_id(
    problem_id: int | str,
    dataset: BaseDataset,
    with_name: bool = False,  # noqa: FBT001, FBT002 - upstream's signature
) -> str | tuple[str, str]:
    """A problem's source, and with `with_name` its path (its name, if it has none) before it. ValueError for an unknown id."""
    problem = dataset.get_problem_by_id(int(problem_id))
    return (problem.path or problem.name, problem.code) if with_name else problem.code


def fetch_ref_arch_from_level_problem_id(
    level: int | str,
    problem_id: int | str,
    with_name: bool = False,  # noqa: FBT001, FBT002 - upstream's signature
) -> str | tuple[str, str]:
    """The same from the problems in this package."""
    return fetch_ref_arch_from_problem_id(problem_id, construct_kernelbench_dataset(int(level)), with_name)


def graceful_eval_cleanup(
    curr_context: dict[str, object],
    device: torch.device | int | str,
    tempfile: TemporaryModule | None = None,
) -> None:
    """Empty a namespace, give cached CUDA memory back, and remove the file of a candidate that was imported from one."""
    curr_context.clear()
    where = resolve_device(device)
    if where.type == "cuda":
        with torch.cuda.device(where):
            torch.cuda.synchronize(where)
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(where)
    if tempfile is not None:
        tempfile.close()
        with suppress(FileNotFoundError):  # the caller may have removed it
            Path(tempfile.name).unlink()


def register_and_format_exception(
    exception_type: str,
    exception_msg: Exception | str,
    metadata: dict[str, object],
    verbose: bool = False,  # noqa: FBT001, FBT002
    truncate: bool = False,  # noqa: FBT001, FBT002
    max_length: int = 200,
) -> dict[str, object]:
    """Write an exception's text into `metadata[exception_type]`, at most `max_length` characters with `truncate`."""
    text = clip(str(exception_msg), max_length) if truncate else str(exception_msg)
    if verbose:
        sys.stderr.write(f"[Exception {exception_type}] {text}\n")
    metadata[exception_type] = text
    return metadata


def check_metadata_serializable_all_types(metadata: Mapping[str, object]) -> dict[str, object]:
    """`metadata` as JSON can hold it: what JSON has no word for becomes its `str`, at any depth."""
    cleaned: dict[str, object] = json.loads(json.dumps(metadata, default=str))
    return cleaned


def _request(*parts: Mapping[str, object]) -> NativeRequest:
    try:
        return NativeRequest.model_validate({name: value for part in parts for name, value in part.items()})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UsageError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
