"""Device memory at the gate, by CUDA IPC: inputs in allocations of their own, outputs mapped and read where they are.

An IPC handle shares the whole allocation, so nothing that is lent ever comes out of torch's pool.
"""

from collections.abc import Callable

import torch
from cuda.bindings import driver

from kernelguard.gate.memory import DTYPES, Unreadable, element_count, same_bytes
from kernelguard.terms.errors import HostError
from kernelguard.wire.gate_messages import (
    OutputSpec,
)

HANDLE_BYTES = 64
_BUFFER_ID = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID
_LAZY_PEER_ACCESS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
MAX_SEGMENTS = 4096


class _Bytes:
    """Raw device memory for torch.as_tensor. Sizes in bytes."""

    def __init__(self, pointer: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (pointer, False), "version": 3, "strides": None,
        }  # fmt: skip


def device_bytes(pointer: int, size: int) -> torch.Tensor:
    """Device memory at `pointer` as a 1-d uint8 tensor that owns nothing."""
    return torch.as_tensor(_Bytes(pointer, size), device="cuda") if size else torch.empty(0, dtype=torch.uint8, device="cuda")


def _checked(name: str, result: tuple[object, ...]) -> object:
    code, *values = result
    if int(code) != 0:  # type: ignore[call-overload]  # a CUresult, an IntEnum
        raise HostError(f"{name} failed: {getattr(code, 'name', code)}")
    return values[0] if values else None


class CudaLender:
    """The referee's end, on a GPU. Needs a current CUDA context (torch made it)."""

    def __init__(self) -> None:
        self._segments: dict[tuple[int, str], tuple[int, int]] = {}
        self._owned: list[int] = []

    def lend(self, size: int) -> tuple[torch.Tensor, str, int]:
        """A driver allocation of its own."""
        pointer = int(_checked("cuMemAlloc", driver.cuMemAlloc(max(size, 512))))  # type: ignore[call-overload]
        self._owned.append(pointer)
        handle = _checked("cuIpcGetMemHandle", driver.cuIpcGetMemHandle(driver.CUdeviceptr(pointer)))
        return device_bytes(pointer, size), bytes(handle.reserved).hex(), -1  # type: ignore[attr-defined]

    def snapshot(self, worker_pid: int, spec: OutputSpec, into: torch.Tensor) -> bool:
        """Queue the copy; `synchronize` ends it. True if the segment was mapped just now."""
        pointer, new = self._resolve(worker_pid, spec, into.numel())
        if into.numel():
            stream = torch.cuda.current_stream().cuda_stream
            _readable(driver.cuMemcpyDtoDAsync, into.data_ptr(), pointer, into.numel(), stream)
        return new

    def still(self, worker_pid: int, spec: OutputSpec, copy: torch.Tensor) -> bool:
        """Compare where the output is."""
        pointer, _ = self._resolve(worker_pid, spec, copy.numel())
        return same_bytes(device_bytes(pointer, copy.numel()), copy)

    def overwrite(self, worker_pid: int, spec: OutputSpec, value: float) -> None:
        """Queue the fill."""
        dtype = DTYPES[spec.dtype]
        size = element_count(spec.shape) * dtype.itemsize
        pointer, _ = self._resolve(worker_pid, spec, size)
        if size:
            device_bytes(pointer, size).view(dtype).fill_(value)

    def synchronize(self) -> None:
        """Wait for the current stream."""
        torch.cuda.current_stream().synchronize()

    def forget(self, worker_pid: int) -> None:
        """Unmap the segments of a worker that has ended."""
        for key in [key for key in self._segments if key[0] == worker_pid]:
            base, _ = self._segments.pop(key)
            driver.cuIpcCloseMemHandle(driver.CUdeviceptr(base))  # its process is gone: a failure here loses nothing

    def take_back(self) -> None:
        """Free the driver allocations."""
        while self._owned:
            driver.cuMemFree(driver.CUdeviceptr(self._owned.pop()))  # the context ends with the process at the latest

    def _resolve(self, pid: int, spec: OutputSpec, size: int) -> tuple[int, bool]:
        if size != element_count(spec.shape) * DTYPES[spec.dtype].itemsize:
            raise Unreadable("the size does not follow from shape and dtype")
        new = (pid, spec.segment) not in self._segments
        base, span = self._open(pid, spec.segment) if new else self._segments[pid, spec.segment]
        if not (spec.offset >= 0 and spec.offset + size <= span):
            raise Unreadable(f"bytes {spec.offset} to {spec.offset + size} are not in a segment of {span}")
        return base + spec.offset, new

    def _open(self, pid: int, segment: str) -> tuple[int, int]:
        if len(segment) != 2 * HANDLE_BYTES or len(self._segments) >= MAX_SEGMENTS:
            raise Unreadable("not an IPC handle, or too many of them")
        handle = driver.CUipcMemHandle()
        try:
            handle.reserved = bytes.fromhex(segment)
        except ValueError as error:
            raise Unreadable("not an IPC handle") from error
        base = int(_readable(driver.cuIpcOpenMemHandle, handle, _LAZY_PEER_ACCESS))  # type: ignore[call-overload]
        code, _, span = driver.cuMemGetAddressRange(driver.CUdeviceptr(base))
        if int(code) != 0:
            raise Unreadable("the driver does not know the range of the segment")
        self._segments[pid, segment] = (base, int(span))
        return base, int(span)


class CudaBorrower:
    """The worker's end, on a GPU."""

    def __init__(self) -> None:
        self._handles: dict[int, tuple[int, str]] = {}

    def borrow(self, size: int, handle: str, descriptor: int) -> torch.Tensor:
        """Map the lent allocation for the life of the process."""
        del descriptor
        opaque = driver.CUipcMemHandle()
        opaque.reserved = bytes.fromhex(handle)
        pointer = _checked("cuIpcOpenMemHandle", driver.cuIpcOpenMemHandle(opaque, _LAZY_PEER_ACCESS))
        return device_bytes(int(pointer), size)  # type: ignore[call-overload]

    def locate(self, tensor: torch.Tensor) -> tuple[str, int]:
        """The IPC handle of the allocation that the tensor lies in, and the offset there.

        The driver numbers its allocations: one that was freed and made again at the old address has a new number and handle.
        """
        address = tensor.data_ptr()
        base = _checked("cuMemGetAddressRange", driver.cuMemGetAddressRange(driver.CUdeviceptr(address))[:2])
        number = int(_checked("cuPointerGetAttribute", driver.cuPointerGetAttribute(_BUFFER_ID, address)))  # type: ignore[call-overload]
        known, handle = self._handles.get(int(base), (-1, ""))  # type: ignore[call-overload]
        if known != number:
            opaque = _checked("cuIpcGetMemHandle", driver.cuIpcGetMemHandle(base))
            handle = bytes(opaque.reserved).hex()  # type: ignore[attr-defined]
            self._handles[int(base)] = (number, handle)  # type: ignore[call-overload]
        return handle, address - int(base)  # type: ignore[call-overload]


def _readable(call: Callable[..., tuple[object, ...]], *arguments: object) -> object:
    try:
        return _checked(getattr(call, "__name__", "driver call"), call(*arguments))
    except HostError as error:
        raise Unreadable(str(error)) from error
