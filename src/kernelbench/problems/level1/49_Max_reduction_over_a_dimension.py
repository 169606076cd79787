import torch
from torch import nn

batch_size = 128
dim1 = 4096
dim2 = 4095


class Model(nn.Module):
    """Largest value along `dim`: (B, M, N) -> (B, N) for dim=1."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.max(x, dim=self.dim).values


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, dim1, dim2)]


def get_init_inputs() -> list[int]:
    return [1]
