import torch
from torch import nn

batch_size = 32768
in_features = 1024
out_features = 4096
num_groups = 64
bias_shape = (out_features,)


class Model(nn.Module):
    """Linear layer, Swish, plus a bias, group norm: (B, in_features) -> (B, out_features)."""

    def __init__(self, in_features: int, out_features: int, num_groups: int, bias_shape: tuple[int]) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.group_norm = nn.GroupNorm(num_groups, out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.matmul(x)
        return self.group_norm(torch.sigmoid(x) * x + self.bias)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int | tuple[int]]:
    return [in_features, out_features, num_groups, bias_shape]
