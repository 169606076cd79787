"""The outcome of one evaluation. A runtime exists exactly when the status is PASS."""

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelguard.terms.findings import Capability, Finding, Severity


class Integrity(enum.Enum):
    """What was decided. The order of precedence is `WORST_FIRST`, and stands nowhere else."""

    PASS = "PASS"
    SUSPICIOUS = "SUSPICIOUS"
    FAIL = "FAIL"
    UNSUPPORTED = "UNSUPPORTED"


WORST_FIRST = (Integrity.UNSUPPORTED, Integrity.FAIL, Integrity.SUSPICIOUS, Integrity.PASS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Native:
    """Upstream's own fields, by upstream's rule from the same calls, whatever the status. Times in ms, -1.0 for none."""

    compiled: bool = False
    correctness: bool = False
    runtime_ms: float = -1.0
    runtime_stats: Mapping[str, object] = field(default_factory=dict)
    ref_runtime_ms: float = -1.0
    ref_runtime_stats: Mapping[str, object] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What was decided, why, and on what evidence. Times in ms.

    `verified_*` mappings are empty unless the status is PASS; `observed_*` hold what was measured whatever the status.
    `extended` is this project's evidence beyond the seed schema; empty when nothing was measured.
    """

    integrity: Integrity
    verified_correctness: bool
    verified_runtime_ms: float | None
    verified_runtime_stats: Mapping[str, object] = field(default_factory=dict)
    observed_runtime_stats: Mapping[str, object] = field(default_factory=dict)
    verified_reference_runtime_ms: float | None = None
    verified_reference_runtime_stats: Mapping[str, object] = field(default_factory=dict)
    observed_reference_runtime_stats: Mapping[str, object] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    limitations: tuple[str, ...] = ()
    native: Native = field(default_factory=Native)
    extended: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Hold the invariant that a runtime exists exactly when the status is PASS."""
        passed = self.integrity is Integrity.PASS
        if passed != (self.verified_runtime_ms is not None):
            raise ValueError("a verified runtime exists exactly when the status is PASS")
        if passed and not (self.verified_correctness and _is_time(self.verified_runtime_ms)):
            raise ValueError("PASS needs verified correctness and a positive, finite runtime")

    @property
    def verified(self) -> bool:
        """True exactly for PASS."""
        return self.integrity is Integrity.PASS

    @property
    def codes(self) -> tuple[str, ...]:
        """The distinct codes of what weighs (warnings and errors), in order."""
        return tuple(sorted({finding.code for finding in self.findings if finding.severity is not Severity.INFO}))


def _is_time(value_ms: float | None) -> bool:
    return value_ms is not None and math.isfinite(value_ms) and value_ms > 0
