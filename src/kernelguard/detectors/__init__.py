"""Evidence to findings: pure functions that know nothing of one another, and the loop that runs them."""

from collections.abc import Callable, Iterator

from kernelguard.detectors import endings, gate_time, outputs, pace, precision, state
from kernelguard.terms.evidence import Evidence
from kernelguard.terms.findings import Finding
from kernelguard.terms.policy import Policy

Detector = Callable[[Evidence, Policy], Iterator[Finding]]

DETECTORS: dict[str, Detector] = {
    "outputs": outputs.detect,
    "gate_time": gate_time.detect,
    "pace": pace.detect,
    "precision": precision.detect,
    "state": state.detect,
    "endings": endings.detect,
}


def detect(evidence: Evidence, policy: Policy) -> tuple[Finding, ...]:
    """What all detectors have to say, in their order."""
    return tuple(finding for detector in DETECTORS.values() for finding in detector(evidence, policy))
