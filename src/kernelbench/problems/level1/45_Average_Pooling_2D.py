import torch
from torch import nn

batch_size = 16
channels = 64
height = 2048
width = 2048
kernel_size = 11


class Model(nn.Module):
    """2D average pooling, windows side by side: (B, C, H, W) -> (B, C, H', W')."""

    def __init__(self, kernel_size: int, stride: int | None = None, padding: int = 0) -> None:
        super().__init__()
        self.avg_pool = nn.AvgPool2d(kernel_size, stride=stride, padding=padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.avg_pool(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, channels, height, width)]


def get_init_inputs() -> list[int]:
    return [kernel_size]
