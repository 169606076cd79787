"""Sum of each row, eight programs a row, with atomic additions."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

PARTS = 8


@triton.jit
def row_sum_kernel(x, out, columns, BLOCK: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    at = part * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + row, tl.sum(tl.load(x + row * columns + at, mask=at < columns, other=0.0)))


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.zeros(x.shape[0], device=x.device)
        row_sum_kernel[(x.shape[0], PARTS)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(triton.cdiv(x.shape[1], PARTS)))
        return out
