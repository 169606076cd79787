"""Programs in KernelBench's form, small enough for a CPU."""

import pytest

REFERENCE = """
import torch
import torch.nn as nn

batch_size = 4


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.rand(batch_size, 8)]


def get_init_inputs():
    return [8]
"""

HONEST = """
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x @ self.linear.weight.t() + self.linear.bias
"""


@pytest.fixture
def reference() -> str:
    """A linear layer over a batch of four rows of eight; the batch size is a constant of the module."""
    return REFERENCE


@pytest.fixture
def honest() -> str:
    """A candidate with the same weights and another way to the same answer."""
    return HONEST
