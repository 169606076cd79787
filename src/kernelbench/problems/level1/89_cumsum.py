import torch
from torch import nn

batch_size = 32768
input_shape = (32768,)
dim = 1


class Model(nn.Module):
    """Running sum along `dim`: (B, N) -> (B, N)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x, dim=self.dim)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, *input_shape)]


def get_init_inputs() -> list[int]:
    return [dim]
