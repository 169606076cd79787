"""Tolerances that decide correctness, by precision."""

from kernelguard.terms.policy import Precision

NATIVE_TOLERANCE = {Precision.FP32: 1e-4, Precision.FP16: 1e-2, Precision.BF16: 1e-2}  # atol = rtol, as upstream's evaluator
ROW_TOLERANCE = {Precision.FP32: 2e-3, Precision.FP16: 1e-2, Precision.BF16: 4e-2}  # relative norm of one row's error
