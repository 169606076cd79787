"""What the commands call: the evaluator, the native evaluation and its timing, the examination of this host.

One value, handed to every command, so that a test hands in another; each part is loaded when it is first called, so that
`--help`, `explain` and bad usage load neither torch nor a process.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import cast

from kernelguard.native.messages import NativeRequest, NativeResult
from kernelguard.terms.findings import Capability
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Verdict

Evaluate = Callable[[Problem, Candidate, Policy], Verdict]


@contextmanager
def _evaluator(device: str, gpu: int) -> Iterator[Evaluate]:
    from kernelguard.evaluation.candidate import evaluate  # noqa: PLC0415 - loaded when it is first needed
    from kernelguard.supervision.host import Host  # noqa: PLC0415 - likewise

    with Host(device=device, gpu=gpu) as host:
        yield lambda problem, candidate, policy: evaluate(problem, candidate, policy, host)


def _run_native(request: NativeRequest, timeout_s: float) -> NativeResult:
    from kernelguard.supervision.native import run_native  # noqa: PLC0415 - loaded when it is first needed

    return run_native(request, timeout_s=timeout_s)


def _time_compiled(request: NativeRequest) -> float:
    from kernelguard.native.baseline import Compilation, Measurement, time_reference  # noqa: PLC0415 - loads torch
    from kernelguard.native.numerics import dtype_of  # noqa: PLC0415 - loads torch

    how = Measurement(
        num_trials=request.num_perf_trials,
        timing_method=request.timing_method,
        device=request.device,
        dtype=dtype_of(request.precision),
        compilation=Compilation(),
    )
    return cast("float", time_reference(request.reference_src, how)["mean"])


def _available() -> frozenset[str]:
    from kernelguard.redteam.host import available_needs  # noqa: PLC0415 - asks torch whether there is CUDA

    return available_needs()


def _examine(device: str, gpu: int) -> tuple[Capability, ...]:
    from kernelguard.supervision.doctor import examine  # noqa: PLC0415 - loaded when it is first needed

    return examine(device, gpu)


@dataclass(frozen=True, kw_only=True, slots=True)
class Engine:
    """`evaluator` opens a device for one or many evaluations, each of which gives a Verdict whatever the candidate does.

    `time_compiled` gives the mean ms of the reference under torch.compile. `available` names what this host offers to the
    red team's cases. All raise KernelGuardError for bad input and bad hosts.
    """

    evaluator: Callable[[str, int], AbstractContextManager[Evaluate]] = _evaluator
    run_native: Callable[[NativeRequest, float], NativeResult] = _run_native
    time_compiled: Callable[[NativeRequest], float] = _time_compiled
    examine: Callable[[str, int], tuple[Capability, ...]] = _examine
    available: Callable[[], frozenset[str]] = _available
