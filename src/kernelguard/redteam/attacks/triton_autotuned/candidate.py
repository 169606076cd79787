"""Multiply two matrices with a tile that is tuned at the first call."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

CONFIGS = [triton.Config({"TILE": tile, "DEPTH": depth}, num_warps=warps) for tile, depth, warps in ((64, 32, 4), (128, 16, 8))]


@triton.autotune(configs=CONFIGS, key=["N", "K"])
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


class ModelNew(nn.Module):
    def forward(self, a, b):
        (m, k), n = a.shape, b.shape[1]
        out = torch.empty(m, n, device=a.device)
        matmul_kernel[lambda meta: (m // meta["TILE"], n // meta["TILE"])](a, b, out, n, k)
        return out
