import torch
from torch import nn

batch_size = 128
dim1 = 4096
dim2 = 4095
dim = 1


class Model(nn.Module):
    """Index of the smallest value along `dim`: (B, M, N) -> (B, N) of int64 for dim=1."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.argmin(x, dim=self.dim)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, dim1, dim2)]


def get_init_inputs() -> list[int]:
    return [dim]
