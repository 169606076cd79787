import torch
import torch.nn.functional as F
from torch import nn

batch_size = 1024
in_channels = 3
out_channels = 16
depth = 16
height = 32
width = 32
kernel_size = 4


class Model(nn.Module):
    """3D convolution, hard swish, group norm, mean over each volume: (B, C_in, D, H, W) -> (B, C_out)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, num_groups: int = 4, bias: bool = True) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, bias=bias)
        self.group_norm = nn.GroupNorm(num_groups, out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.mean(self.group_norm(F.hardswish(self.conv(x))), dim=(2, 3, 4))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, depth, height, width)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels, kernel_size]
