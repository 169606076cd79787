"""Average of the past, weighted by 0.9 ** age, with the sum of absolute values as norm."""

import torch
import torch.nn as nn

ROWS, STEPS, DECAY = 256, 512, 0.9


class Model(nn.Module):
    def forward(self, x):
        age = torch.arange(STEPS, device=x.device).unsqueeze(1) - torch.arange(STEPS, device=x.device)
        weight = torch.where(age >= 0, DECAY ** age.clamp(min=0).to(x.dtype), torch.zeros((), dtype=x.dtype, device=x.device))
        return (x @ weight.T) / (x.abs() @ weight.T + 1e-30)


def get_inputs():
    return [torch.randn(ROWS, STEPS)]


def get_init_inputs():
    return []
