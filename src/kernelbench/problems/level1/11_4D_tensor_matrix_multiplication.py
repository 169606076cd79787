import torch
from torch import nn

b = 8
i = 256
j = 512
l = 256
k = 768


class Model(nn.Module):
    """A grid of matrices times one matrix: (b, i, j, l) @ (l, k) -> (b, i, j, k)."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.einsum("bijl,lk->bijk", A, B)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(b, i, j, l), torch.rand(l, k)]


def get_init_inputs() -> list[object]:
    return []
