import torch
from torch import nn

M = 4096


class Model(nn.Module):
    """Product of two lower triangular matrices, lower triangular itself: (M, M) @ (M, M) -> (M, M)."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.tril(torch.matmul(A, B))


def get_inputs() -> list[torch.Tensor]:
    return [torch.tril(torch.rand(M, M)), torch.tril(torch.rand(M, M))]


def get_init_inputs() -> list[object]:
    return []
