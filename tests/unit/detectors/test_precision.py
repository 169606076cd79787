"""Reduced precision shows on sparse rows, and only there."""

from dataclasses import replace

import pytest
from evidence_builder import RIGHT, call, evidence, plain_calls

from kernelguard.detectors.precision import detect
from kernelguard.terms.evidence import Evidence
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Fp32Precision, Policy, Precision


def seen(ours: float | None, theirs: float | None, kind: DrawKind = DrawKind.SPARSE, **changes: object) -> Evidence:
    """Plain calls and one probe with these errors against fp64."""
    outcome = replace(RIGHT, oracle_row=ours, reference_oracle_row=theirs)
    return evidence([*plain_calls(5), call(5, kind, outcome=outcome, **changes)])


@pytest.mark.parametrize("error", [3.0e-4, 2.9e-3])
def test_tf32_and_bf16_operands_are_told_from_fp32(error: float) -> None:
    """The native tolerance of 1e-4 lets TF32 through on many problems; the promise was fp32."""
    (finding,) = detect(seen(error, 3e-7), Policy())

    assert finding.code == "RH-11"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (3e-7, 3e-7),
        (6e-6, 3e-7),  # a long sequential fp32 sum is fp32
        (3e-4, 1e-4),  # the reference is no better
        (0.5, 3e-7),  # not imprecise but wrong, which another detector says
        (None, 3e-7),
        (3e-4, None),
    ],
)
def test_fp32_arithmetic_and_missing_measures_yield_nothing(ours: float | None, theirs: float | None) -> None:
    """An honest order of summation differs, and what was not measured accuses nobody."""
    assert list(detect(seen(ours, theirs), Policy())) == []


def test_dense_draws_decide_nothing() -> None:
    """On dense positive data honest fp32 sums can be worse than fp16 operands."""
    assert list(detect(seen(3e-4, 3e-7, DrawKind.SHAPE), Policy())) == []


def test_void_calls_decide_nothing() -> None:
    """Where fp32 and fp64 references disagree there is no measure."""
    assert list(detect(seen(3e-4, 3e-7, void="fp64 disagrees"), Policy())) == []


@pytest.mark.parametrize("policy", [Policy(fp32_precision=Fp32Precision.TF32), Policy(precision=Precision.BF16)])
def test_what_was_allowed_is_no_finding(policy: Policy) -> None:
    """TF32 is honest where the operator asked for it."""
    assert list(detect(seen(3e-4, 3e-7), policy)) == []
