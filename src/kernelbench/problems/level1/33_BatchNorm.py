import torch
from torch import nn

batch_size = 64
features = 64
dim1 = 512
dim2 = 512


class Model(nn.Module):
    """Batch normalisation with batch statistics: (B, C, H, W) -> (B, C, H, W)."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.bn = nn.BatchNorm2d(num_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, features, dim1, dim2)]


def get_init_inputs() -> list[int]:
    return [features]
