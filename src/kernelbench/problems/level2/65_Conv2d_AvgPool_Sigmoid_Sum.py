import torch
from torch import nn

batch_size = 128
in_channels = 8
out_channels = 64
height = 384
width = 384
kernel_size = 3
pool_kernel_size = 4


class Model(nn.Module):
    """2D convolution, average pooling, sigmoid, sum over all but the batch: (B, C_in, H, W) -> (B,)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, pool_kernel_size: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.avg_pool = nn.AvgPool2d(pool_kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sum(torch.sigmoid(self.avg_pool(self.conv(x))), dim=(1, 2, 3))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels, kernel_size, pool_kernel_size]
