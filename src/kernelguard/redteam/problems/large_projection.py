"""Product with small weights: every answer is of the order of 0.0003, so the absolute tolerance hides low precision."""

import torch
import torch.nn as nn

SIZE = 2048


class Model(nn.Module):
    def forward(self, x, w):
        return torch.matmul(x, w)


def get_inputs():
    return [torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE) * (0.0003 / SIZE**0.5)]


def get_init_inputs():
    return []
