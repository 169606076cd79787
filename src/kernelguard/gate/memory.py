"""What both kinds of memory promise: the referee lends inputs, reads outputs where they are, and poisons them."""

from collections.abc import Sequence
from typing import Protocol

import torch

from kernelguard.wire.gate_messages import (
    InputSpec,
    OutputSpec,
)

MAX_OUTPUTS = 64
MAX_DIMS = 16
PIECE_BYTES = 256 << 20

DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in (
        "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128",
        "int64", "int32", "int16", "int8", "uint8", "bool",
    )
}  # fmt: skip


class Unreadable(Exception):
    """The memory that a worker named can't be read: no such segment, or a range that is not in it."""


class Lender(Protocol):
    """The referee's end."""

    def lend(self, size: int) -> tuple[torch.Tensor, str, int]:
        """A new slot of `size` bytes: the referee's own view (uint8), its IPC handle in hex (or ''), its descriptor (or -1)."""

    def snapshot(self, worker_pid: int, spec: OutputSpec, into: torch.Tensor) -> bool:
        """Copy the output's bytes into `into` (1-d uint8). True if a segment had to be mapped first. Raises Unreadable."""

    def still(self, worker_pid: int, spec: OutputSpec, copy: torch.Tensor) -> bool:
        """True when the output's bytes are those of `copy` (1-d uint8). Raises Unreadable."""

    def overwrite(self, worker_pid: int, spec: OutputSpec, value: float) -> None:
        """Fill the output with `value` where it is. Raises Unreadable."""

    def synchronize(self) -> None:
        """Wait for everything that was queued."""

    def forget(self, worker_pid: int) -> None:
        """Unmap what was opened of a worker that has ended."""

    def take_back(self) -> None:
        """Free everything that was lent; its borrowers have ended."""


class Borrower(Protocol):
    """The worker's end."""

    def borrow(self, size: int, handle: str, descriptor: int) -> torch.Tensor:
        """The lent slot as a 1-d uint8 tensor."""

    def locate(self, tensor: torch.Tensor) -> tuple[str, int]:
        """Segment (IPC handle in hex, or '') and offset of a tensor's first byte."""


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for torch.float32."""
    return str(dtype).removeprefix("torch.")


def input_view(slot: torch.Tensor, spec: InputSpec) -> torch.Tensor:
    """A new tensor object over the start of `slot`, with the dtype, shape and strides of `spec`."""
    dtype = DTYPES[spec.dtype]
    size = element_count(spec.shape) * dtype.itemsize
    return slot[:size].view(dtype).as_strided(spec.shape, spec.strides)


def flat_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a dense tensor in the order in which they lie in memory, as a 1-d uint8 view."""
    return tensor.as_strided((tensor.numel(),), (1,)).view(torch.uint8)


def same_bytes(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equality of two 1-d uint8 tensors of one size, in pieces, so that the comparison needs little memory of its own."""
    return all(torch.equal(one[at : at + PIECE_BYTES], other[at : at + PIECE_BYTES]) for at in range(0, one.numel(), PIECE_BYTES))


def element_count(shape: Sequence[int]) -> int:
    """The number of elements, 1 for a scalar."""
    count = 1
    for extent in shape:
        count *= extent
    return count


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """True when the elements fill a contiguous range without overlap, in any order of dimensions."""
    expected = 1
    for stride, extent in sorted((s, e) for s, e in zip(strides, shape, strict=True) if e != 1):
        if stride != expected:
            return False
        expected *= extent
    return True
