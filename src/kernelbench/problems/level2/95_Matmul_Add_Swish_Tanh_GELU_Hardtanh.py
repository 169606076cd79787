import torch
import torch.nn.functional as F
from torch import nn

batch_size = 1024
in_features = 8192
out_features = 8192
add_value_shape = (out_features,)


class Model(nn.Module):
    """Linear layer, plus a bias, Swish, tanh, GELU, hard tanh: (B, in_features) -> (B, out_features)."""

    def __init__(self, in_features: int, out_features: int, add_value_shape: tuple[int]) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.add_value = nn.Parameter(torch.randn(add_value_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.matmul(x) + self.add_value
        x = F.gelu(torch.tanh(torch.sigmoid(x) * x))
        return F.hardtanh(x, min_val=-1, max_val=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int | tuple[int]]:
    return [in_features, out_features, add_value_shape]
