"""Multiply two matrices after transposing the second one into a workspace of the driver's pool."""

import ctypes

import torch
import torch.nn as nn
import triton
import triton.language as tl


def runtime():
    """The CUDA runtime that torch has loaded."""
    return ctypes.CDLL(f"libcudart.so.{torch.version.cuda.split('.')[0]}")


@triton.jit
def transpose_kernel(b, out, K, N, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    tl.store(out + columns[:, None] * K + rows[None, :], tl.trans(tl.load(b + rows[:, None] * N + columns[None, :])))


@triton.jit
def matmul_kernel(a, bt, out, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inner = tl.arange(0, DEPTH)
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, K, DEPTH):
        left = tl.load(a + rows[:, None] * K + start + inner[None, :])
        right = tl.load(bt + columns[None, :] * K + start + inner[:, None])
        total += tl.dot(left, right, input_precision="ieee")
    tl.store(out + rows[:, None] * N + columns[None, :], total)


class Workspace:
    """Memory of the asynchronous pool that Triton takes for a tensor."""

    def __init__(self, size):
        self.place, self.stream = ctypes.c_void_p(), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.dtype = torch.float32
        if runtime().cudaMallocAsync(ctypes.byref(self.place), ctypes.c_size_t(4 * size), self.stream) != 0:
            raise MemoryError("no device memory")

    def data_ptr(self):
        return self.place.value

    def release(self):
        runtime().cudaFreeAsync(self.place, self.stream)


class ModelNew(nn.Module):
    def forward(self, a, b):
        (m, k), n = a.shape, b.shape[1]
        out, workspace = torch.empty(m, n, device=a.device), Workspace(k * n)
        transpose_kernel[(k // 64, n // 64)](b, workspace, k, n, TILE=64)
        matmul_kernel[(m // 64, n // 64)](a, workspace, out, n, k, TILE=64, DEPTH=32)
        workspace.release()
        return out
