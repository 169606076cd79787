import torch
from torch import nn

batch_size = 112
features = 64
dim1 = 512
dim2 = 512


class Model(nn.Module):
    """Instance normalisation, without weights: (B, C, H, W) -> (B, C, H, W)."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.inorm = nn.InstanceNorm2d(num_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inorm(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, features, dim1, dim2)]


def get_init_inputs() -> list[int]:
    return [features]
