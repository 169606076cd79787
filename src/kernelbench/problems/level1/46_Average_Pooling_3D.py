import torch
from torch import nn

batch_size = 16
channels = 32
depth = 128
height = 128
width = 256
kernel_size = 3
stride = 2
padding = 1


class Model(nn.Module):
    """3D average pooling, padding counted: (B, C, D, H, W) -> (B, C, D', H', W')."""

    def __init__(self, kernel_size: int, stride: int | None = None, padding: int = 0) -> None:
        super().__init__()
        self.avg_pool = nn.AvgPool3d(kernel_size, stride=stride, padding=padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.avg_pool(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, channels, depth, height, width)]


def get_init_inputs() -> list[int]:
    return [kernel_size, stride, padding]
