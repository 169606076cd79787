import torch
from torch import nn

M = 2048
K = 1048576


class Model(nn.Module):
    """Matrix-vector product: (M, K) @ (K, 1) -> (M, 1)."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(M, K), torch.rand(K, 1)]


def get_init_inputs() -> list[object]:
    return []
