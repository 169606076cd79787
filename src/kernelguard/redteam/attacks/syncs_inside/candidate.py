"""Multiply two matrices, and wait."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


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


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = matmul_into(torch.empty(a.shape[0], b.shape[1], device=a.device), a, b)
        torch.cuda.synchronize()
        return out
