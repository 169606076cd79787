import torch
from torch import nn

batch_size = 16
in_channels = 64
out_channels = 128
D = 32
H = 32
W = 32
kernel_size = 3
groups = 8
bias = False


class Model(nn.Module):
    """Transposed 3D convolution, ReLU, group norm: (B, C_in, D, H, W) -> (B, C_out, D', H', W')."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, groups: int, bias: bool = False) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, bias=bias)
        self.relu = nn.ReLU()
        self.group_norm = nn.GroupNorm(num_groups=groups, num_channels=out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.group_norm(self.relu(self.conv_transpose(x)))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, D, H, W)]


def get_init_inputs() -> list[int | bool]:
    return [in_channels, out_channels, kernel_size, groups, bias]
