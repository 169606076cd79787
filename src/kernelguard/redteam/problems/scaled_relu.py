"""Rectify rows of very different size: three of four are some 2e-5 large."""

import torch
import torch.nn as nn

ROWS = 256
COLUMNS = 1024


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    scale = torch.full((ROWS, 1), 2e-5)
    scale[::4] = 1.0
    return [torch.randn(ROWS, COLUMNS) * scale]


def get_init_inputs():
    return []
