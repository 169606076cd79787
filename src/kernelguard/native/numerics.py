"""Upstream's seeds, dtypes and tolerances."""

import torch

from kernelguard.terms.errors import UsageError

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
TOLERANCES = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 1e-2}


def set_seed(seed: int) -> None:
    """Seed the CPU's generator and every CUDA device's."""
    torch.manual_seed(seed)
    torch.cuda.manual_seed(seed)


def trial_seeds(seed: int, count: int) -> list[int]:
    """The input seeds of the correctness trials: `count` draws below 2**32 - 1 after seeding with `seed`. Public, on purpose."""
    torch.manual_seed(seed)
    return [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(count)]


def dtype_of(precision: str) -> torch.dtype:
    """The dtype of `fp32`, `fp16` or `bf16`; UsageError for anything else."""
    if precision not in DTYPES:
        raise UsageError(f"precision={precision!r}: must be one of {', '.join(DTYPES)}")
    return DTYPES[precision]


def name_of(dtype: torch.dtype) -> str:
    """The inverse of `dtype_of`."""
    for name, known in DTYPES.items():
        if known is dtype:
            return name
    raise UsageError(f"precision={dtype}: must be one of {', '.join(map(str, TOLERANCES))}")


def tolerance_of(dtype: torch.dtype) -> float:
    """Absolute and relative tolerance of the comparison: 1e-4 for fp32, 1e-2 for fp16 and bf16."""
    return TOLERANCES[dtype_of(name_of(dtype))]


def cast_input(value: object, device: torch.device, dtype: torch.dtype) -> object:
    """A floating-point tensor in `dtype` on `device`; other tensors keep their dtype and move; anything else passes through.

    Upstream casts integers and booleans too, which leaves level 1's cross entropy (int64 targets) without a reference that runs.
    """
    if not isinstance(value, torch.Tensor):
        return value
    return value.to(dtype=dtype if value.is_floating_point() else value.dtype).to(device=device)
