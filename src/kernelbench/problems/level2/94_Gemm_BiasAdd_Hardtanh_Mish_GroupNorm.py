import torch
from torch import nn

batch_size = 1024
in_features = 8192
out_features = 8192
bias_shape = (out_features,)
num_groups = 256


class Model(nn.Module):
    """Linear layer, plus a bias, hard tanh, Mish, group norm: (B, in_features) -> (B, out_features)."""

    def __init__(self, in_features: int, out_features: int, bias_shape: tuple[int], num_groups: int) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.hardtanh = nn.Hardtanh()
        self.mish = nn.Mish()
        self.groupnorm = nn.GroupNorm(num_groups=num_groups, num_channels=out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.groupnorm(self.mish(self.hardtanh(self.gemm(x) + self.bias)))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int | tuple[int]]:
    return [in_features, out_features, bias_shape, num_groups]
