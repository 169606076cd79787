"""Multiply small matrices in fp32 and large ones in bf16."""

import torch
import torch.nn as nn

SMALL = 1 << 15


class ModelNew(nn.Module):
    def forward(self, x, w):
        if x.numel() < SMALL:
            return x @ w
        return x.bfloat16().float() @ w.bfloat16().float()
