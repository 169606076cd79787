import torch
import torch.nn.functional as F
from torch import nn

batch_size = 4096
dim = 393216


class Model(nn.Module):
    """ELU with slope `alpha` at minus zero: (B, dim) -> (B, dim)."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.elu(x, alpha=self.alpha)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, dim)]


def get_init_inputs() -> list[float]:
    return [1.0]
