"""One native evaluation from top to bottom: the story of mode `off`."""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from kernelguard.native.attempts import Failure, attempt
from kernelguard.native.correctness import Trials, run_trials
from kernelguard.native.devices import hardware_name, require_backend, resolve_device, synchronize
from kernelguard.native.messages import NativeRequest, NativeResult, PrecisionName, Stage, TimingMethod
from kernelguard.native.numerics import cast_input, dtype_of, set_seed
from kernelguard.native.programs import Reference, extensions_in, load_candidate, load_reference
from kernelguard.native.timing import get_timing_function, get_timing_stats, require_stopwatch
from kernelguard.terms.errors import ProblemError

Report = Callable[[Stage, NativeResult], None]


def evaluate_native(  # noqa: PLR0913 - upstream's parameters, by name
    reference_src: str,
    candidate_src: str,
    *,
    seed_num: int = 42,
    num_correct_trials: int = 1,
    num_perf_trials: int = 10,
    measure_performance: bool = False,
    timing_method: TimingMethod = "cuda_event",
    verbose: bool = False,
    build_dir: str | None = None,
    device: torch.device | str | int | None = None,
    backend: str = "cuda",
    precision: PrecisionName = "fp32",
    check_for_excessive_speedup: bool = True,
    excessive_speedup_threshold: float = 10.0,
) -> NativeResult:
    """Upstream's evaluation in this very process: a candidate that crashes takes the caller with it.

    Raises ProblemError if the reference can't be used, UsageError for a request that contradicts itself, HostError without CUDA.
    """
    request = NativeRequest(
        reference_src=reference_src,
        candidate_src=candidate_src,
        seed_num=seed_num,
        num_correct_trials=num_correct_trials,
        num_perf_trials=num_perf_trials,
        measure_performance=measure_performance,
        timing_method=timing_method,
        verbose=verbose,
        build_dir=build_dir,
        device=str(resolve_device(device)),
        backend=backend,
        precision=precision,
        check_for_excessive_speedup=check_for_excessive_speedup,
        excessive_speedup_threshold=excessive_speedup_threshold,
    )
    return evaluate_request(request, lambda _stage, _result: None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """The request with its words resolved."""

    request: NativeRequest
    device: torch.device
    dtype: torch.dtype
    report: Report


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Both models, built and moved, and the problem they answer."""

    problem: Reference
    reference: torch.nn.Module
    candidate: torch.nn.Module


def evaluate_request(request: NativeRequest, report: Report) -> NativeResult:
    """Evaluate; `report` hears after each stage what is known by then. Raises as `evaluate_native`."""
    setup = Setup(request=request, device=resolve_device(request.device), dtype=dtype_of(request.precision), report=report)
    require_backend(request.backend, setup.device, setup.dtype)
    if request.measure_performance:
        require_stopwatch(request.timing_method, setup.device)
    if setup.device.type == "cuda":
        torch.cuda.set_device(setup.device)
    with tempfile.TemporaryDirectory(prefix="kernelbench-") as scratch:
        programs, build_dir = Path(scratch, "programs"), Path(request.build_dir or Path(scratch, "build")).absolute()
        programs.mkdir()
        with extensions_in(build_dir):
            return _evaluate(setup, programs, build_dir)


def _evaluate(setup: Setup, programs: Path, build_dir: Path) -> NativeResult:
    """Load, build, check, time. Each step that fails ends the story with what is known so far."""
    request = setup.request
    result = NativeResult(metadata={"hardware": hardware_name(setup.device), "device": str(setup.device)})
    problem = load_reference(request.reference_src, programs)
    init_inputs, reference = _build_reference(setup, problem)
    setup.report("reference", result)

    loaded = attempt(lambda: load_candidate(request.candidate_src, request.backend, problem, programs, build_dir))
    if isinstance(loaded, Failure):
        name = "SyntaxError" if loaded.name == "builtins.SyntaxError" else loaded.name
        result.metadata |= {"compilation_error_name": name, "compilation_error": loaded.message}
        return _complete(setup, result)
    result.compiled = True
    setup.report("compiled", result)

    candidate = attempt(lambda: _build(setup, loaded, init_inputs))
    if isinstance(candidate, Failure):
        _note_runtime_error(candidate, result)
        return _complete(setup, result)
    pair = Pair(problem=problem, reference=reference.to(device=setup.device, dtype=setup.dtype), candidate=candidate)
    _check(setup, pair, result)
    setup.report("checked", result)
    if request.measure_performance:
        _measure(setup, pair, result)
    return _complete(setup, result)


def _build_reference(setup: Setup, problem: Reference) -> tuple[list[object], torch.nn.Module]:
    """The constructor's arguments and the reference, built on the CPU: both from the request's seed. Raises ProblemError."""

    def build() -> tuple[list[object], torch.nn.Module]:
        set_seed(setup.request.seed_num)
        init_inputs = [cast_input(value, setup.device, setup.dtype) for value in problem.get_init_inputs()]
        with torch.no_grad():
            set_seed(setup.request.seed_num)
            return init_inputs, problem.model(*init_inputs)

    built = attempt(build)
    if isinstance(built, Failure):
        raise ProblemError(f"the reference can't be built: {built.name}: {built.message}")
    return built


def _build(setup: Setup, model: Callable[..., torch.nn.Module], init_inputs: list[object]) -> torch.nn.Module:
    """A candidate whose weights follow upstream's rule (same seed, same order of creation), on the device in the dtype."""
    with torch.no_grad():
        set_seed(setup.request.seed_num)
        built = model(*init_inputs).to(device=setup.device, dtype=setup.dtype)
        synchronize(setup.device)
    return built


def _check(setup: Setup, pair: Pair, result: NativeResult) -> None:
    request = setup.request
    trials = Trials(
        seed=request.seed_num,
        count=request.num_correct_trials,
        device=setup.device,
        dtype=setup.dtype,
        verbose=request.verbose,
    )
    outcome = attempt(lambda: run_trials(pair.reference, pair.candidate, pair.problem.get_inputs, trials, result.metadata))
    if isinstance(outcome, Failure):
        _note_runtime_error(outcome, result)
    else:
        result.correctness = outcome


def _measure(setup: Setup, pair: Pair, result: NativeResult) -> None:
    """Time the candidate if it is correct, then, as upstream, the reference in any case."""
    if result.correctness:
        stats = attempt(lambda: _time(setup, pair.candidate, pair.problem))
        if isinstance(stats, Failure):
            result.metadata["error_during_performance"] = stats.message
        else:
            result.runtime_stats, result.runtime = stats, _mean(stats)
    setup.report("timed", result)
    if not setup.request.check_for_excessive_speedup:
        return
    stats = attempt(lambda: _time(setup, pair.reference, pair.problem))
    if isinstance(stats, Failure):
        result.metadata["error_during_reference_performance"] = stats.message
        return
    result.ref_runtime_stats, result.ref_runtime = stats, _mean(stats)
    if result.runtime > 0 and result.ref_runtime / result.runtime > setup.request.excessive_speedup_threshold:
        result.metadata["excessive_speedup"] = True


def _time(setup: Setup, model: torch.nn.Module, problem: Reference) -> dict[str, object]:
    """Statistics over calls on one set of inputs. Gradients are recorded meanwhile: upstream times outside no_grad."""
    request = setup.request
    synchronize(setup.device)
    set_seed(request.seed_num)
    inputs = [cast_input(value, setup.device, setup.dtype) for value in problem.get_inputs()]
    model = model.to(device=setup.device, dtype=setup.dtype)
    synchronize(setup.device)
    stopwatch = get_timing_function(request.timing_method)
    elapsed_ms = stopwatch(model, inputs, num_trials=request.num_perf_trials, verbose=request.verbose, device=setup.device)
    return get_timing_stats(elapsed_ms, device=setup.device)


def _mean(stats: dict[str, object]) -> float:
    mean = stats["mean"]
    return mean if isinstance(mean, float) else -1.0


def _note_runtime_error(failure: Failure, result: NativeResult) -> None:
    result.metadata |= {
        "runtime_error": failure.message,
        "runtime_error_name": failure.name,
        "runtime_error_traceback": failure.trace,
    }


def _complete(setup: Setup, result: NativeResult) -> NativeResult:
    if setup.request.verbose:
        sys.stderr.write(f"[Eval] {result}\n")
    setup.report("complete", result)
    return result
