"""What a sitting brings home."""

from dataclasses import dataclass

from kernelguard.terms.evidence import Evidence
from kernelguard.terms.plan import Plan
from kernelguard.terms.policy import Isolation


@dataclass(frozen=True, kw_only=True, slots=True)
class Sitting:
    """What a sitting brought home. `clocks` are NVML's readings at the start and the end of the calls."""

    evidence: Evidence
    plan: Plan | None
    versions: dict[str, str]
    isolation: Isolation
    reached: tuple[str, ...]
    missing: tuple[str, ...]
    clocks: tuple[dict[str, int], ...]
