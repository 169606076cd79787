import torch
import torch.nn.functional as F
from torch import nn

batch_size = 64
in_channels = 64
out_channels = 64
height = 256
width = 256
kernel_size = 3
multiplier_shape = (out_channels, 1, 1)


class Model(nn.Module):
    """2D convolution, a factor per channel, leaky ReLU, GELU: (B, C_in, H, W) -> (B, C_out, H', W')."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, multiplier_shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))
        self.leaky_relu = nn.LeakyReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.leaky_relu(self.conv(x) * self.multiplier))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs() -> list[int | tuple[int, int, int]]:
    return [in_channels, out_channels, kernel_size, multiplier_shape]
