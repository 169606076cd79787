"""Softmax over rows so long that every answer is below the absolute tolerance."""

import torch
import torch.nn as nn

ROWS = 8
COLUMNS = 32768


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.rand(ROWS, COLUMNS)]


def get_init_inputs():
    return []
