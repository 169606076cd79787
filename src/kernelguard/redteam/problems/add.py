"""Sum of two matrices: the example problem."""

import torch
import torch.nn as nn

ROWS = 256
COLUMNS = 1024


class Model(nn.Module):
    def forward(self, a, b):
        return a + b


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
