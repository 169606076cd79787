import torch
from torch import nn

M = 4096
N = 4096


class Model(nn.Module):
    """Diagonal matrix, given by its diagonal, times a matrix: diag(N) @ (N, M) -> (N, M)."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return A.unsqueeze(1) * B


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(N), torch.rand(N, M)]


def get_init_inputs() -> list[object]:
    return []
