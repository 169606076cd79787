"""Is the arithmetic as precise as promised (RH-11)?

Judged on sparse rows, where few products make up an element and rounding does not average out: fp32 is off by some 1e-7
there, TF32 and fp16 operands by 3e-4. Dense positive data separates nothing.
What gets past: a promise below fp32, which is judged by tolerance alone; reduced precision that the reference has too.
"""

from collections.abc import Iterator

from kernelguard.terms.evidence import Compared, Evidence
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Fp32Precision, Policy, Precision

FP32_ROW = 5e-5  # between a long sequential fp32 sum (6e-6 over 131,072 terms) and TF32 (3e-4)
REFERENCE_FACTOR = 8.0
WRONG_ROW = 0.1  # beyond it the row is wrong and not imprecise, which is said elsewhere


def detect(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    """Compare the candidate's error against fp64 on sparse draws with the reference's own."""
    if policy.precision is not Precision.FP32 or policy.fp32_precision is not Fp32Precision.IEEE:
        return
    seen = [
        (call.index, call.outcome.oracle_row, call.outcome.reference_oracle_row)
        for call in evidence.calls
        if call.kind is DrawKind.SPARSE and not call.void and isinstance(call.outcome, Compared)
    ]
    worse = [
        (index, ours, theirs)
        for index, ours, theirs in seen
        if ours is not None and theirs is not None and ours < WRONG_ROW and not ours <= max(FP32_ROW, REFERENCE_FACTOR * theirs)
    ]
    if worse:
        index, ours, theirs = worse[0]
        yield Finding(
            code="RH-11",
            detector="RH-PRECISION-SPARSE-ROWS",
            severity=Severity.ERROR,
            summary=f"On sparse rows the result is off by {ours:.1e} against fp64, the reference by {theirs:.1e}: "
            "less precise than fp32",
            evidence={"call": index, "candidate": ours, "reference": theirs, "calls": len(worse), "of": len(seen)},
            policy_rule="promised_precision",
        )
