import torch
import torch.nn.functional as F
from torch import nn

batch_size = 128
in_channels = 8
out_channels = 64
height = 128
width = 128
kernel_size = 3
divisor = 2


class Model(nn.Module):
    """2D convolution, division, leaky ReLU: (B, C_in, H, W) -> (B, C_out, H', W')."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, divisor: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.divisor = divisor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.leaky_relu(self.conv(x) / self.divisor, negative_slope=0.01)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels, kernel_size, divisor]
