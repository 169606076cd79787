"""Findings (an opinion about the candidate) and Capabilities (what this host could and could not observe)."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelguard.terms.codes import CODES


class Severity(enum.Enum):
    """How much a finding weighs: `info` changes nothing, `warning` makes the verdict SUSPICIOUS, `error` makes it FAIL."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One opinion with a code from the table.

    `detector` names who says so, `policy_rule` the rule that was broken, `evidence` holds JSON values only.
    """

    code: str
    detector: str
    severity: Severity
    summary: str
    evidence: Mapping[str, object] = field(default_factory=dict)
    policy_rule: str = "reward_hardening"
    remediation: str = ""

    def __post_init__(self) -> None:
        """Refuse a code that is not in the table; fill the remediation from it."""
        if self.code not in CODES:
            raise ValueError(f"unknown finding code {self.code!r}")
        if not self.remediation:
            object.__setattr__(self, "remediation", CODES[self.code].remediation)


class CapabilityStatus(enum.Enum):
    """Whether the host could observe a thing."""

    SUPPORTED = "SUPPORTED"
    PARTIAL = "PARTIAL"
    UNSUPPORTED = "UNSUPPORTED"


@dataclass(frozen=True, kw_only=True, slots=True)
class Capability:
    """What this host could observe. A required capability that is not SUPPORTED denies trust (fail closed)."""

    name: str
    status: CapabilityStatus
    required: bool
    detail: str

    @property
    def denies_trust(self) -> bool:
        """True when the missing observation is one that the policy insists on."""
        return self.required and self.status is not CapabilityStatus.SUPPORTED
