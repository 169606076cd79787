import torch
from torch import nn

batch_size = 1024
in_features = 8192
out_features = 8192
bias_shape = (out_features,)


class Model(nn.Module):
    """Linear layer without bias, plus a bias, ReLU: (B, in_features) -> (B, out_features)."""

    def __init__(self, in_features: int, out_features: int, bias_shape: tuple[int]) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.gemm(x) + self.bias)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int | tuple[int]]:
    return [in_features, out_features, bias_shape]
