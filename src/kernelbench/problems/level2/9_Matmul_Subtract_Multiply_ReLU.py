import torch
from torch import nn

batch_size = 1024
in_features = 8192
out_features = 8192
subtract_value = 2.0
multiply_value = 1.5


class Model(nn.Module):
    """Linear layer, subtraction, multiplication, ReLU: (B, in_features) -> (B, out_features)."""

    def __init__(self, in_features: int, out_features: int, subtract_value: float, multiply_value: float) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.subtract_value = subtract_value
        self.multiply_value = multiply_value

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu((self.linear(x) - self.subtract_value) * self.multiply_value)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int | float]:
    return [in_features, out_features, subtract_value, multiply_value]
