import torch
from torch import nn

M = 8205
K = 2949
N = 5921


class Model(nn.Module):
    """Matrix product with sizes that fit no tile: (M, K) @ (K, N) -> (M, N)."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(M, K), torch.rand(K, N)]


def get_init_inputs() -> list[object]:
    return []
