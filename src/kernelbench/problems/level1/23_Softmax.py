import torch
from torch import nn

batch_size = 4096
dim = 393216


class Model(nn.Module):
    """Softmax over each row: (B, dim) -> (B, dim)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, dim)]


def get_init_inputs() -> list[object]:
    return []
