import torch
import torch.nn.functional as F
from torch import nn

batch_size = 1024
input_size = 8192
output_size = 8192
divisor = 10.0


class Model(nn.Module):
    """Linear layer, division, GELU: (B, input_size) -> (B, output_size)."""

    def __init__(self, input_size: int, output_size: int, divisor: float) -> None:
        super().__init__()
        self.linear = nn.Linear(input_size, output_size)
        self.divisor = divisor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.linear(x) / self.divisor)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, input_size)]


def get_init_inputs() -> list[int | float]:
    return [input_size, output_size, divisor]
