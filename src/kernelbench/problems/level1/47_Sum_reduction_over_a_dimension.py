import torch
from torch import nn

batch_size = 128
dim1 = 4096
dim2 = 4095
reduce_dim = 1


class Model(nn.Module):
    """Sum over `dim`, which is kept: (B, M, N) -> (B, 1, N) for dim=1."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sum(x, dim=self.dim, keepdim=True)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, dim1, dim2)]


def get_init_inputs() -> list[int]:
    return [reduce_dim]
