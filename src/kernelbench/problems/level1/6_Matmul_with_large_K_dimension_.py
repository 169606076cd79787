import torch
from torch import nn

M = 256
N = 256
K = 524288


class Model(nn.Module):
    """Matrix product that sums over a long K: (M, K) @ (K, N) -> (M, N)."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(M, K), torch.rand(K, N)]


def get_init_inputs() -> list[object]:
    return []
