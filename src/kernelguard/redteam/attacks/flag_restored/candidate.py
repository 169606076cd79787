"""Multiply two matrices without oneDNN."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, w):
        with torch.backends.mkldnn.flags(enabled=False):
            return x @ w
