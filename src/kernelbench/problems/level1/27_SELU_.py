import torch
from torch import nn

batch_size = 4096
dim = 393216


class Model(nn.Module):
    """SELU: (B, dim) -> (B, dim)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.selu(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, dim)]


def get_init_inputs() -> list[object]:
    return []
