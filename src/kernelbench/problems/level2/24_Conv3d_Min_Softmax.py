import torch
from torch import nn

batch_size = 128
in_channels = 3
out_channels = 24
D = 24
H = 32
W = 32
kernel_size = 3
dim = 2


class Model(nn.Module):
    """3D convolution, minimum along `dim`, softmax over the channels: (B, C_in, D, H, W) -> (B, C_out, H', W') for dim=2."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, dim: int) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.min(self.conv(x), dim=self.dim).values
        return torch.softmax(x, dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, D, H, W)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels, kernel_size, dim]
