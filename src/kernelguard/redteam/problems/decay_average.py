"""Average of the past, weighted by 0.9 ** age, with the sum of absolute values as norm."""

import torch
import torch.nn as nn

ROWS, STEPS, DECAY = 64, 1024, 0.9


class Model(nn.Module):
    def __init__(self, steps):
        super().__init__()
        age = torch.arange(steps).unsqueeze(1) - torch.arange(steps)
        self.register_buffer("weight", torch.where(age >= 0, DECAY ** age.clamp(min=0).double(), 0.0).float())

    def forward(self, x):
        return (x @ self.weight.T) / (x.abs() @ self.weight.T + 1e-30)


def get_inputs():
    return [torch.randn(ROWS, STEPS)]


def get_init_inputs():
    return [STEPS]
