import torch
from torch import nn

batch_size = 32768
input_shape = (32768,)
dim = 1


class Model(nn.Module):
    """Running sum along `dim` of the elements under a mask: (B, N), (B, N) of bool -> (B, N)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x * mask, dim=self.dim)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, *input_shape), torch.randint(0, 2, (batch_size, *input_shape)).bool()]


def get_init_inputs() -> list[int]:
    return [dim]
