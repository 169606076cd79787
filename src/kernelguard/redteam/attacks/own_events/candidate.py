"""Add two matrices in blocks whose size is measured at the first call."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

BLOCKS = (1024, 4096)


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n)
    tl.store(out + at, total, mask=at < n)


def run(a, b, block):
    out = torch.empty_like(a)
    add_kernel[(triton.cdiv(out.numel(), block),)](a, b, out, out.numel(), BLOCK=block)
    return out


def milliseconds(a, b, block):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    run(a, b, block)  # compiles
    start.record()
    run(a, b, block)
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = None

    def forward(self, a, b):
        if self.block is None:
            self.block = min(BLOCKS, key=lambda block: milliseconds(a, b, block))
        return run(a, b, self.block)
