import torch
import torch.nn.functional as F
from torch import nn

batch_size = 1024
in_features = 8192
out_features = 8192


class Model(nn.Module):
    """Linear layer, GELU, softmax over the features: (B, in_features) -> (B, out_features)."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softmax(F.gelu(self.linear(x)), dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int]:
    return [in_features, out_features]
