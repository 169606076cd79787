import torch
import torch.nn as nn


class Model(nn.Module):
    """Adds two matrices of the same shape."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b


rows = 4096
columns = 4096


def get_inputs():
    return [torch.rand(rows, columns), torch.rand(rows, columns)]


def get_init_inputs():
    return []
