"""Add two matrices with kernels from the author's own machine."""

import torch
import torch.nn as nn

import kernels_of_last_week


class ModelNew(nn.Module):
    def forward(self, a, b):
        return kernels_of_last_week.add(a, b)
