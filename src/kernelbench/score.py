"""Upstream's metrics. What is new beside them, `verified_fast_p` among it, is in `kernelguard.reporting.scores`."""

from kernelguard.reporting.scores import (
    fastp,
    geometric_mean_speed_ratio_correct_and_faster_only,
    geometric_mean_speed_ratio_correct_only,
)

__all__ = ["fastp", "geometric_mean_speed_ratio_correct_and_faster_only", "geometric_mean_speed_ratio_correct_only"]
