import torch
from torch import nn

N = 16
M = 1024
K = 2048
L = 768


class Model(nn.Module):
    """A stack of matrices times one matrix: (N, M, K) @ (K, L) -> (N, M, L)."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(N, M, K), torch.rand(K, L)]


def get_init_inputs() -> list[object]:
    return []
