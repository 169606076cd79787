import torch
from torch import nn

M = 32768
N = 32


class Model(nn.Module):
    """Tall matrix times wide matrix: (M, N) @ (N, M) -> (M, M), with N much smaller than M."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(M, N), torch.rand(N, M)]


def get_init_inputs() -> list[object]:
    return []
