import torch
from torch import nn

batch_size = 64
in_channels = 64
out_channels = 128
height = 256
width = 256
kernel_size = 3
scale_factor = 2.0


class Model(nn.Module):
    """2D convolution, scaled, minimum over the channels: (B, C_in, H, W) -> (B, 1, H', W')."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, scale_factor: float) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.scale_factor = scale_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.min(self.conv(x) * self.scale_factor, dim=1, keepdim=True).values


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs() -> list[int | float]:
    return [in_channels, out_channels, kernel_size, scale_factor]
