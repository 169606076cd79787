"""Add two matrices with one program a multiprocessor."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        at = start + tl.arange(0, BLOCK)
        total = tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n)
        tl.store(out + at, total, mask=at < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.programs = None

    def forward(self, a, b):
        if self.programs is None:
            self.programs = 4 * torch.cuda.get_device_properties(a.device).multi_processor_count
        out = torch.empty_like(a)
        add_kernel[(self.programs,)](a, b, out, a.numel(), BLOCK=4096)
        return out
