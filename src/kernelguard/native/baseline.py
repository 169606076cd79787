"""How long a reference takes, eager or compiled: the figures in a baseline file."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch

from kernelguard.native.attempts import Failure, attempt
from kernelguard.native.devices import resolve_device, synchronize
from kernelguard.native.numerics import cast_input, set_seed
from kernelguard.native.programs import Reference, load_reference
from kernelguard.native.timing import get_timing_function, get_timing_stats, require_stopwatch
from kernelguard.terms.errors import ProblemError

SEED = 42


@dataclass(frozen=True, kw_only=True, slots=True)
class Compilation:
    """Arguments of `torch.compile`. Backends other than inductor take no mode."""

    backend: str = "inductor"
    mode: str | None = "default"


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """How a reference is to be timed."""

    num_warmup: int = 5
    num_trials: int = 100
    discard_first: int = 1
    timing_method: str = "cuda_event"
    device: torch.device | str | int | None = None
    dtype: torch.dtype = torch.float32
    compilation: Compilation | None = None
    verbose: bool = False


def time_reference(source: str, how: Measurement) -> dict[str, object]:
    """Timing statistics of a problem's `Model`, under no_grad. Warm-up calls include the compilation.

    Raises ProblemError if the reference does not run, UsageError or HostError for a device that can't do it.
    """
    device = resolve_device(how.device)
    require_stopwatch(how.timing_method, device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    with tempfile.TemporaryDirectory(prefix="kernelbench-") as scratch, torch.no_grad():
        problem = load_reference(source, Path(scratch))
        elapsed_ms = attempt(lambda: _time(problem, how, device))
    if isinstance(elapsed_ms, Failure):
        raise ProblemError(f"the reference can't be timed: {elapsed_ms.name}: {elapsed_ms.message}")
    return get_timing_stats(elapsed_ms, device=device)


def _time(problem: Reference, how: Measurement, device: torch.device) -> list[float]:
    set_seed(SEED)
    inputs = [cast_input(value, device, how.dtype) for value in problem.get_inputs()]
    set_seed(SEED)
    init_inputs = [cast_input(value, device, how.dtype) for value in problem.get_init_inputs()]
    model = problem.model(*init_inputs).to(device=device, dtype=how.dtype)
    if how.compilation is not None:
        model = _compiled(model, how.compilation)
    synchronize(device)
    stopwatch = get_timing_function(how.timing_method)
    return stopwatch(
        model,
        inputs,
        num_warmup=how.num_warmup,
        num_trials=how.num_trials,
        discard_first=how.discard_first,
        verbose=how.verbose,
        device=device,
    )


def _compiled(model: torch.nn.Module, how: Compilation) -> torch.nn.Module:
    torch.compiler.reset()
    return cast("torch.nn.Module", torch.compile(model, backend=how.backend, mode=how.mode))
