import torch
from torch import nn

N = 4096


class Model(nn.Module):
    """Product of two symmetric matrices: (N, N) @ (N, N) -> (N, N)."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list[torch.Tensor]:
    A = torch.rand(N, N)
    B = torch.rand(N, N)
    return [(A + A.T) / 2, (B + B.T) / 2]


def get_init_inputs() -> list[object]:
    return []
