import torch
from torch import nn

batch_size = 128
m = 512
k = 1024
n = 2048


class Model(nn.Module):
    """Batched matrix product: (B, m, k) @ (B, k, n) -> (B, m, n)."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.bmm(A, B)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, m, k), torch.rand(batch_size, k, n)]


def get_init_inputs() -> list[object]:
    return []
