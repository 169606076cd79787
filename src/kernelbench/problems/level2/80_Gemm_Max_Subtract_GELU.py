import torch
import torch.nn.functional as F
from torch import nn

batch_size = 1024
in_features = 8192
out_features = 8192
max_dim = 1


class Model(nn.Module):
    """Linear layer, maximum along `max_dim`, less its own mean, GELU: (B, in_features) -> (B, 1) for max_dim=1, all zero."""

    def __init__(self, in_features: int, out_features: int, max_dim: int) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.max_dim = max_dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.max(self.gemm(x), dim=self.max_dim, keepdim=True).values
        return F.gelu(x - x.mean(dim=1, keepdim=True))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int]:
    return [in_features, out_features, max_dim]
