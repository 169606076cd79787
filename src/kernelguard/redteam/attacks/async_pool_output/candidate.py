"""Add two matrices into memory of the driver's pool."""

import ctypes

import torch
import torch.nn as nn
import triton
import triton.language as tl


def runtime():
    """The CUDA runtime that torch has loaded."""
    return ctypes.CDLL(f"libcudart.so.{torch.version.cuda.split('.')[0]}")


class Block:
    """Memory of the asynchronous pool, seen by torch through the array interface; given back when torch lets go of it."""

    def __init__(self, shape):
        self.place, self.stream = ctypes.c_void_p(), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        size = ctypes.c_size_t(4 * shape[0] * shape[1])
        if runtime().cudaMallocAsync(ctypes.byref(self.place), size, self.stream) != 0:
            raise MemoryError("no device memory")
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "<f4", "data": (self.place.value, False), "version": 3}

    def __del__(self):
        runtime().cudaFreeAsync(self.place, self.stream)


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n)
    tl.store(out + at, total, mask=at < n)


def add_into(out, a, b):
    n = out.numel()
    add_kernel[(triton.cdiv(n, 1024),)](a, b, out, n, BLOCK=1024)
    return out


class ModelNew(nn.Module):
    def forward(self, a, b):
        return add_into(torch.as_tensor(Block(tuple(a.shape)), device=a.device), a, b)
