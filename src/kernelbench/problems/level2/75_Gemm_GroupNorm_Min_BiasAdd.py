import torch
from torch import nn

batch_size = 1024
in_features = 8192
out_features = 8192
num_groups = 512
bias_shape = (1, out_features, 1, 1)


class Model(nn.Module):
    """Linear layer, group norm, minimum over the features, spread by a bias: (B, in_features) -> (1, out_features, B, 1)."""

    def __init__(self, in_features: int, out_features: int, num_groups: int, bias_shape: tuple[int, int, int, int]) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.group_norm = nn.GroupNorm(num_groups, out_features)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.min(self.group_norm(self.gemm(x)), dim=1, keepdim=True).values
        return x + self.bias


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int | tuple[int, int, int, int]]:
    return [in_features, out_features, num_groups, bias_shape]
