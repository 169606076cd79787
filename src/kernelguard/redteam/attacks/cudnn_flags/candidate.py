"""Add two matrices honestly, and switch cuDNN off."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

torch.backends.cudnn.enabled = False
torch.backends.cudnn.deterministic = True


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
        return add_into(torch.empty_like(a), a, b)
