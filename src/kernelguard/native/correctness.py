"""Upstream's correctness trials: reference and candidate on the same tensors, by `torch.allclose`."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from kernelguard.native.attempts import Failure, attempt, clip
from kernelguard.native.devices import synchronize
from kernelguard.native.numerics import cast_input, set_seed, tolerance_of, trial_seeds

RUNTIME_ERROR_LIMIT = 200  # characters, as upstream; the whole story is in runtime_error_traceback


@dataclass(frozen=True, kw_only=True, slots=True)
class Trials:
    """How often to ask, from which seed, where, and in which dtype."""

    seed: int
    count: int
    device: torch.device
    dtype: torch.dtype
    verbose: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Mismatch:
    """Largest and mean absolute difference of one trial."""

    largest: float
    mean: float


@dataclass(frozen=True, kw_only=True, slots=True)
class WrongShape:
    """An output that can't be compared."""

    expected: torch.Size
    got: torch.Size


def run_trials(
    reference: torch.nn.Module,
    candidate: torch.nn.Module,
    get_inputs: Callable[[], Sequence[object]],
    trials: Trials,
    metadata: dict[str, object],
) -> bool:
    """True when every trial agrees. What does not is written into `metadata` under upstream's keys.

    Both modules stay in train mode and run under no_grad, the reference first. An exception of the candidate or a wrong shape
    ends the trials; a wrong value does not. Raises what the reference or `get_inputs` raises.
    """
    passed = 0
    with torch.no_grad():
        for seed in trial_seeds(trials.seed, trials.count):
            outcome = _trial(reference, candidate, get_inputs, seed, trials)
            if trials.verbose:
                sys.stderr.write(f"[Eval] trial with seed {seed}: {'pass' if outcome is None else outcome}\n")
            if isinstance(outcome, Failure | WrongShape):
                _note_end(outcome, metadata)
                return False
            if isinstance(outcome, Mismatch):
                _note_mismatch(outcome, metadata)
            else:
                passed += 1
    metadata["correctness_trials"] = f"({passed} / {trials.count})"
    return passed == trials.count


def _trial(
    reference: torch.nn.Module,
    candidate: torch.nn.Module,
    get_inputs: Callable[[], Sequence[object]],
    seed: int,
    trials: Trials,
) -> Mismatch | WrongShape | Failure | None:
    """One trial; None means agreement. The generators are not reset between the two calls, so dropout sees other numbers."""
    device, dtype = trials.device, trials.dtype
    set_seed(seed)
    inputs = [cast_input(value, device, dtype) for value in get_inputs()]
    set_seed(seed)
    reference = reference.to(device=device, dtype=dtype)
    set_seed(seed)
    candidate = candidate.to(device=device, dtype=dtype)
    expected = reference(*inputs)
    synchronize(device)

    def judge() -> Mismatch | WrongShape | None:
        output = candidate(*inputs)
        synchronize(device)
        return _compare(expected, output, tolerance_of(dtype))

    return attempt(judge)


def _compare(expected: torch.Tensor, output: torch.Tensor, tolerance: float) -> Mismatch | WrongShape | None:
    if expected.shape != output.shape:
        return WrongShape(expected=expected.shape, got=output.shape)
    if torch.allclose(expected, output, atol=tolerance, rtol=tolerance):
        return None
    if not expected.is_floating_point():
        expected, output = expected.double(), output.double()
    difference = torch.abs(expected - output)
    return Mismatch(largest=torch.max(difference).item(), mean=torch.mean(difference).item())


def _note_mismatch(outcome: Mismatch, metadata: dict[str, object]) -> None:
    for key, value in (("max_difference", outcome.largest), ("avg_difference", outcome.mean)):
        values = metadata.setdefault(key, [])
        if isinstance(values, list):
            values.append(f"{value:.6f}")
    metadata["correctness_issue"] = "Output mismatch"


def _note_end(outcome: Failure | WrongShape, metadata: dict[str, object]) -> None:
    if isinstance(outcome, WrongShape):
        metadata["correctness_issue"] = f"Output shape mismatch: Expected {outcome.expected}, got {outcome.got}"
        metadata["correctness_issue_name"] = "correctness_issue"
    else:
        metadata["runtime_error"] = clip(outcome.message, RUNTIME_ERROR_LIMIT)
        metadata["runtime_error_name"] = outcome.name
        metadata["runtime_error_traceback"] = outcome.trace
