"""What the operator chose. Every deadline and every limit of an evaluation stands here."""

import enum
from dataclasses import dataclass, field

from kernelguard.terms.errors import UsageError

GIB = 1 << 30


class Mode(enum.Enum):
    """`off` is the native KernelBench evaluation, `audit` records, `enforce` also refuses before import."""

    OFF = "off"
    AUDIT = "audit"
    ENFORCE = "enforce"


class Rules(enum.Enum):
    """Which source rules hold (`reward_hardening_policy`). `behaviour` reads no source at all."""

    SOURCE_STRICT = "source_strict"
    PRACTICAL = "practical"
    BEHAVIOUR = "behaviour"


class Precision(enum.Enum):
    """The dtype that floating-point inputs and weights are cast to, as upstream's `precision`."""

    FP32 = "fp32"
    FP16 = "fp16"
    BF16 = "bf16"


class Fp32Precision(enum.Enum):
    """What an fp32 product may round to, on both sides.

    `ieee`: full fp32. `tf32`: TF32 allowed. `torch_default`: matmul ieee, convolution TF32, as PyTorch starts up.
    """

    IEEE = "ieee"
    TF32 = "tf32"
    TORCH_DEFAULT = "torch_default"


class Isolation(enum.Enum):
    """How far a candidate's process is confined, weakest first. The level reached is in every record."""

    PROCESS = "process"
    LANDLOCK = "landlock"
    NAMESPACES = "namespaces"
    FULL = "full"

    @property
    def rank(self) -> int:
        """Position in the order from weakest (0) to strongest (3)."""
        return list(Isolation).index(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Bounds on what one candidate may use. Sizes in bytes, times in seconds."""

    timeout_s: float = 300.0  # one worker, from import to the last DONE
    build_timeout_s: float = 600.0
    first_call_timeout_s: float = 180.0  # JIT, autotuning and cold modules
    call_timeout_s: float = 60.0  # every later call
    start_timeout_s: float = 60.0  # zygote, fork, confinement; never the candidate's time
    kill_timeout_s: float = 10.0
    log_bytes: int = 1 << 20
    reply_bytes: int = 1 << 20
    processes: int = 256
    host_memory_bytes: int = 64 * GIB
    file_bytes: int = 4 * GIB
    gpu_memory_bytes: int = 0  # 0: the card's own size


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """One evaluation's terms. Values out of range raise UsageError with the name of the field."""

    mode: Mode = Mode.ENFORCE
    rules: Rules = Rules.SOURCE_STRICT
    device: str = "cuda"
    gpu: int = 0
    precision: Precision = Precision.FP32
    fp32_precision: Fp32Precision = Fp32Precision.IEEE
    num_correct_trials: int = 5
    num_perf_trials: int = 100
    budget_s: float = 120.0  # wall time of the plan; a plan that stops there after its minimum is `budget`
    domain: str = "given"
    weights: str = "seeded"
    min_isolation: Isolation = Isolation.PROCESS
    plan_seed: str = ""  # 64 hex digits to repeat a plan that was revealed; empty: drawn from the OS after the build
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Refuse values that no evaluation can run with."""
        _one_of("device", self.device, ("cuda", "cpu"))
        _one_of("domain", self.domain, ("given", "any"))
        _one_of("weights", self.weights, ("seeded", "transfer"))
        for name, value, least in (
            ("gpu", self.gpu, 0),
            ("num_correct_trials", self.num_correct_trials, 1),
            ("num_perf_trials", self.num_perf_trials, 1),
        ):
            if value < least:
                raise UsageError(f"{name}={value}: must be at least {least}")
        if self.plan_seed and not _is_seed(self.plan_seed):
            raise UsageError("plan_seed: must be 64 hexadecimal digits, as a record's extended.plan.seed")
        if not self.budget_s > 0:
            raise UsageError(f"budget_s={self.budget_s}: must be positive")
        if not self.limits.timeout_s > 0:
            raise UsageError(f"timeout={self.limits.timeout_s}: must be positive seconds")

    @property
    def reads_source(self) -> bool:
        """False under `behaviour`: there only what the candidate does counts."""
        return self.rules is not Rules.BEHAVIOUR


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{name}={value!r}: must be one of {', '.join(allowed)}")


def _is_seed(text: str) -> bool:
    return len(text) == 64 and all(letter in "0123456789abcdef" for letter in text)
