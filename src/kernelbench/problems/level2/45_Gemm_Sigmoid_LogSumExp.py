import torch
from torch import nn

batch_size = 16384
input_size = 2048
hidden_size = 4096
output_size = 1024


class Model(nn.Module):
    """Two linear layers with a sigmoid between, log-sum-exp over the features: (B, input_size) -> (B,)."""

    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(input_size, hidden_size)
        self.linear2 = nn.Linear(hidden_size, output_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.linear2(torch.sigmoid(self.linear1(x)))
        return torch.logsumexp(x, dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, input_size)]


def get_init_inputs() -> list[int]:
    return [input_size, hidden_size, output_size]
