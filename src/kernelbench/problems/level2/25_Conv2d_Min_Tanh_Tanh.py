import torch
from torch import nn

batch_size = 128
in_channels = 16
out_channels = 64
height = 256
width = 256
kernel_size = 3


class Model(nn.Module):
    """2D convolution, minimum over the channels, tanh of tanh: (B, C_in, H, W) -> (B, 1, H', W')."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.min(self.conv(x), dim=1, keepdim=True).values
        return torch.tanh(torch.tanh(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels, kernel_size]
