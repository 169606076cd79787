"""Upstream's static check by its call, over the preflight rules: the source is parsed and read, never run.

Its categories choose between error and warning here as there. `code_bypass` (any `try`, `except` or `pass`) has no counterpart:
those words are in honest code, and what they can hide is found by what it does.
"""

from collections.abc import Iterable, Sequence

from kernelguard.terms.errors import UsageError
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Policy, Precision
from kernelguard.terms.problem import Candidate

STRICT_CHECKS = ["code_bypass", "timing_event_patch", "thread_injection", "lazy_eval"]
WARNING_CHECKS = ["pytorch_wrap", "torch_computation_ops", "stream_injection", "precision_downgrade"]
BACKEND_IMPL_CHECK = {
    "cuda": "cuda_impl",
    "hip": "hip_impl",
    "triton": "triton_impl",
    "thunderkittens": "tk_impl",
    "cute": "cute_impl",
    "cutlass": "cute_impl",
    "tilelang": "tilelang_impl",
}

_CODES = {
    "code_bypass": (),
    "pytorch_wrap": ("RH-03",),
    "torch_computation_ops": ("RH-03",),
    "lazy_eval": ("RH-06",),
    "timing_event_patch": ("RH-07",),
    "stream_injection": ("RH-09",),
    "thread_injection": ("RH-10",),
    "precision_downgrade": ("RH-11",),
    **dict.fromkeys(BACKEND_IMPL_CHECK.values(), ("RH-04",)),
}
_PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def validate_kernel_static(
    code: str,
    backend: str = "cuda",
    precision: str = "fp16",
    forbidden: Sequence[str] | None = None,
    warnings: Sequence[str] | None = None,
) -> tuple[bool, list[str], list[str]]:
    """Whether the source passes, its errors and its warnings, each a line that starts with the finding's code.

    `forbidden` (default STRICT_CHECKS, and always the backend's own check) makes errors, `warnings` (default WARNING_CHECKS)
    makes warnings; a category in neither is silent. Findings that upstream has no category for go by their own severity.
    An unknown category does nothing, as upstream, but is a warning. Raises UsageError for an unknown precision.
    """
    implementation = [BACKEND_IMPL_CHECK[backend.lower()]] if backend.lower() in BACKEND_IMPL_CHECK else []
    to_refuse = [*(STRICT_CHECKS if forbidden is None else forbidden), *implementation]
    to_mention = WARNING_CHECKS if warnings is None else warnings
    refused, warned = _codes_of(to_refuse), _codes_of(to_mention)
    errors = []
    remarks = [f"unknown check {name!r} was ignored" for name in [*to_refuse, *to_mention] if name not in _CODES]
    for finding in _findings(code, backend, precision):
        own_word = Severity.INFO if finding.code in _codes_of(_CODES) else finding.severity
        if finding.code in refused or own_word is Severity.ERROR:
            errors.append(f"{finding.code} {finding.summary}")
        elif finding.code in warned or own_word is Severity.WARNING:
            remarks.append(f"{finding.code} {finding.summary}")
    return not errors, errors, remarks


def _findings(code: str, backend: str, precision: str) -> list[Finding]:
    from kernelguard.preflight import inspect  # noqa: PLC0415 - whoever only names categories needs no rules

    word = _PRECISIONS.get(precision.lower(), precision.lower())
    try:
        policy = Policy(precision=Precision(word))
    except ValueError:
        raise UsageError(f"precision={precision!r}: must be fp32, fp16 or bf16") from None
    candidate = Candidate(source=code, name="candidate", backend=backend)
    return [finding for finding in inspect(candidate, policy) if finding.severity is not Severity.INFO]


def _codes_of(categories: Iterable[str]) -> frozenset[str]:
    return frozenset(code for name in categories for code in _CODES.get(name, ()))
