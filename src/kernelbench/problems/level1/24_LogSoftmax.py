import torch
from torch import nn

batch_size = 4096
dim = 393216


class Model(nn.Module):
    """Logarithm of the softmax over `dim`: (B, dim) -> (B, dim)."""

    def __init__(self, dim: int = 1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(x, dim=self.dim)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, dim)]


def get_init_inputs() -> list[object]:
    return []
