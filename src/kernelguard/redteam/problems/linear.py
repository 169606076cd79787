"""A linear layer with weights of its own, rectified."""

import torch
import torch.nn as nn

ROWS, FEATURES, OUTPUTS = 64, 512, 256


class Model(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.relu(self.linear(x))


def get_inputs():
    return [torch.randn(ROWS, FEATURES)]


def get_init_inputs():
    return [FEATURES, OUTPUTS]
