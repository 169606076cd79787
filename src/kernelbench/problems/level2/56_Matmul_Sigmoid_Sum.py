import torch
from torch import nn

batch_size = 128
input_size = 32768
hidden_size = 32768


class Model(nn.Module):
    """Linear layer, sigmoid, sum over the features: (B, input_size) -> (B, 1)."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(input_size, hidden_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sum(torch.sigmoid(self.linear(x)), dim=1, keepdim=True)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, input_size)]


def get_init_inputs() -> list[int]:
    return [input_size, hidden_size]
