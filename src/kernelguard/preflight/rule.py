"""One row of the table of rules, and the predicates that rows are made of."""

from collections.abc import Callable
from dataclasses import dataclass

from kernelguard.preflight.uses import Role, Use
from kernelguard.preflight.vocabulary import is_torch_compute
from kernelguard.terms.findings import Severity

CALLED = frozenset({Role.CALL})
TOUCHED = frozenset({Role.CALL, Role.READ, Role.BASE})
WRITTEN = frozenset({Role.WRITE})
BUILD_VARIABLES = frozenset({"CUDA_HOME", "CUDA_PATH", "TORCH_CUDA_ARCH_LIST", "CXX", "CC", "CUDAHOSTCXX", "MAX_JOBS", "PATH"})
_PATCHABLE = ("torch.", "time.", "builtins.", "triton.", "numpy.", "math.", "os.", "sys.", "gc.", "json.", "statistics.")
_SWITCHES = ("allow_tf32", "fp32_precision", "allow_fp16", "allow_bf16", "precision")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One row. `practical` is the severity under the looser policy; None means that the rule does not hold there."""

    name: str
    code: str
    roles: frozenset[Role]
    applies: Callable[[Use], bool]
    words: str
    strict: Severity = Severity.ERROR
    practical: Severity | None = Severity.ERROR


def named(*names: str) -> Callable[[Use], bool]:
    """The name itself, or anything below it where it ends in a dot."""
    exact = frozenset(name for name in names if not name.endswith("."))
    below = tuple(name for name in names if name.endswith("."))
    return lambda use: use.name in exact or use.name.startswith(below)


def patched(use: Use) -> bool:
    """Whether a library function is replaced, or the code of one."""
    if use.name.startswith(("torch.backends.", "os.environ")):
        return False
    return use.name.endswith(".__code__") or (use.name.startswith(_PATCHABLE) and not use.name.startswith("torch.Tensor."))


def switched(use: Use) -> bool:
    """Whether a switch of the framework's precision is thrown."""
    return use.name.startswith("torch.backends.") and any(word in use.name for word in _SWITCHES)


def flagged(use: Use) -> bool:
    """Whether another backend setting is changed."""
    return use.name.startswith("torch.backends.") and not switched(use)


def environment(use: Use) -> bool:
    """Whether a variable that builds do not need is set."""
    return use.name in ("os.environ[]", "os.environ", "os.putenv") and use.given.text not in BUILD_VARIABLES


def fallback(use: Use) -> bool:
    """Whether the framework computes, in Python that runs while the clock does."""
    if not use.on_host_in_forward:
        return False
    layer = use.name.startswith("torch.nn.") and use.name.endswith(".__call__")
    return layer or use.name == "torch.compile" or is_torch_compute(use.name)
