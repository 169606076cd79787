import torch
from torch import nn

M = 2048
K = 8192
N = 4096


class Model(nn.Module):
    """Matrix product with both stored transposed: (K, M).T @ (N, K).T -> (M, N)."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A.T, B.T)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(K, M), torch.rand(N, K)]


def get_init_inputs() -> list[object]:
    return []
