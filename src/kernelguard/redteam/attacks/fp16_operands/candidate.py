"""Multiply two matrices after rounding them to fp16."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, w):
        scale = 1024.0  # keeps small weights out of the subnormal range
        return x.half().float() @ (w * scale).half().float() / scale
