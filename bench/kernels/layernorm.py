"""Layer normalisation over the last dimension without weights, one program a row."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def layernorm_kernel(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    where = tl.arange(0, BLOCK)
    inside = where < columns
    values = tl.load(x + row * columns + where, mask=inside, other=0.0)
    centred = tl.where(inside, values - tl.sum(values, axis=0) / columns, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + 1e-5)
    tl.store(y + row * columns + where, centred * scale, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        layernorm_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=8)
        return y
