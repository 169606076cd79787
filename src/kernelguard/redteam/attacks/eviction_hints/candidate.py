"""Add two matrices with loads that are evicted first."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(a + at, mask=at < n, eviction_policy="evict_first")
    right = tl.load(b + at, mask=at < n, eviction_policy="evict_first")
    tl.store(out + at, left + right, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty_like(a)
        add_kernel[(triton.cdiv(a.numel(), 1024),)](a, b, out, a.numel(), BLOCK=1024)
        return out
