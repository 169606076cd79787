"""Host memory at the gate: inputs in sealed memfds, outputs read out of the worker's own memory by the kernel.

The referee copies with process_vm_readv, so the worker never copies an answer and can't choose when it is looked at.
"""

import ctypes
import mmap
import os

import torch

from kernelguard.gate.memory import DTYPES, Unreadable, element_count, same_bytes
from kernelguard.gate.page import create_sealed
from kernelguard.wire.gate_messages import (
    OutputSpec,
)

_libc = ctypes.CDLL(None, use_errno=True)


class _IoVec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]  # type: ignore[mutable-override]  # ctypes' own form


def map_slot(descriptor: int, size: int) -> torch.Tensor:
    """A memfd as a 1-d uint8 tensor of `size` bytes, shared with whoever else maps it."""
    shared = mmap.mmap(descriptor, max(size, 1))
    return torch.frombuffer(shared, dtype=torch.uint8, count=size) if size else torch.empty(0, dtype=torch.uint8)


class HostLender:
    """The referee's end, on the CPU."""

    def lend(self, size: int) -> tuple[torch.Tensor, str, int]:
        """A new sealed memfd of at least one byte; the caller sends the descriptor on and closes it."""
        descriptor = create_sealed("kernelguard-input", max(size, 1))
        return map_slot(descriptor, size), "", descriptor

    def snapshot(self, worker_pid: int, spec: OutputSpec, into: torch.Tensor) -> bool:
        """Copy out of the worker's memory. Raises Unreadable for a range that is not mapped there."""
        _transfer(_libc.process_vm_readv, worker_pid, spec, into)
        return False

    def still(self, worker_pid: int, spec: OutputSpec, copy: torch.Tensor) -> bool:
        """Read once more and compare. Raises Unreadable."""
        again = torch.empty_like(copy)
        _transfer(_libc.process_vm_readv, worker_pid, spec, again)
        return same_bytes(again, copy)

    def overwrite(self, worker_pid: int, spec: OutputSpec, value: float) -> None:
        """Fill in the worker's memory. Raises Unreadable."""
        dtype = DTYPES[spec.dtype]
        pattern = torch.full((element_count(spec.shape),), value, dtype=dtype).view(torch.uint8)
        _transfer(_libc.process_vm_writev, worker_pid, spec, pattern)

    def synchronize(self) -> None:
        """Nothing is queued on the CPU."""

    def forget(self, worker_pid: int) -> None:
        """Nothing is kept."""

    def take_back(self) -> None:
        """The mappings end with the tensors over them."""


class HostBorrower:
    """The worker's end, on the CPU."""

    def borrow(self, size: int, handle: str, descriptor: int) -> torch.Tensor:
        """Map the lent descriptor and close it."""
        del handle
        slot = map_slot(descriptor, size)
        os.close(descriptor)
        return slot

    def locate(self, tensor: torch.Tensor) -> tuple[str, int]:
        """The address."""
        return "", tensor.data_ptr()


def _transfer(call: "ctypes._NamedFuncPointer", pid: int, spec: OutputSpec, local: torch.Tensor) -> None:
    size = element_count(spec.shape) * DTYPES[spec.dtype].itemsize
    if spec.segment or size != local.numel() or not 0 < spec.offset < 1 << 62:
        raise Unreadable("not a range of host memory")
    moved = 0
    while moved < size:
        here = _IoVec(local.data_ptr() + moved, size - moved)
        there = _IoVec(spec.offset + moved, size - moved)
        count = call(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        if count <= 0:
            raise Unreadable(f"{os.strerror(ctypes.get_errno())} at byte {moved} of {size}")
        moved += count
