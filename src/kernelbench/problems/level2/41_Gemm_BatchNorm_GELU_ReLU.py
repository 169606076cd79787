import torch
import torch.nn.functional as F
from torch import nn

batch_size = 16384
in_features = 4096
out_features = 4096


class Model(nn.Module):
    """Linear layer, batch norm, GELU, ReLU: (B, in_features) -> (B, out_features)."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.batch_norm = nn.BatchNorm1d(out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(F.gelu(self.batch_norm(self.gemm(x))))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int]:
    return [in_features, out_features]
