"""The hardened evaluation behind upstream's entry point: audit and enforce."""

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

import kernelguard
from kernelguard.native.messages import NativeRequest
from kernelguard.reporting.record import to_record
from kernelguard.terms.errors import UsageError
from kernelguard.terms.policy import Limits, Mode, Policy, Precision, Rules
from kernelguard.terms.problem import Candidate, Problem

Choice = TypeVar("Choice", bound=Enum)


def evaluate_hardened(request: NativeRequest, *, mode: str, rules: str, timeout_s: float) -> Mapping[str, object]:
    """The record of a hardened evaluation: upstream's fields and `reward_hardening`. Raises UsageError for an unknown word."""
    policy = policy_of(request, mode=mode, rules=rules, timeout_s=timeout_s)
    problem = Problem(source=request.reference_src, name="reference")
    candidate = Candidate(source=request.candidate_src, name="candidate", backend=request.backend)
    return to_record(kernelguard.evaluate(problem, candidate, policy), policy)


def policy_of(request: NativeRequest, *, mode: str, rules: str, timeout_s: float) -> Policy:
    """Upstream's arguments as a Policy. What only the native evaluation knows (seed, stopwatch, build directory) is left out."""
    kind, _, index = request.device.partition(":")
    return Policy(
        mode=_choice(Mode, "reward_hardening_mode", mode),
        rules=_choice(Rules, "reward_hardening_policy", rules),
        device=kind,
        gpu=int(index or 0),
        precision=Precision(request.precision),
        num_correct_trials=request.num_correct_trials,
        num_perf_trials=request.num_perf_trials,
        limits=Limits(timeout_s=timeout_s),
    )


def _choice(kind: type[Choice], name: str, word: str) -> Choice:
    try:
        return kind(word)
    except ValueError:
        raise UsageError(f"{name}={word!r}: must be one of {', '.join(str(one.value) for one in kind)}") from None
