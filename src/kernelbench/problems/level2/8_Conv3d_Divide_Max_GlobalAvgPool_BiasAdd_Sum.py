import torch
from torch import nn

batch_size = 128
in_channels = 8
out_channels = 16
depth = 16
height = 64
width = 64
kernel_size = (3, 3, 3)
divisor = 2.0
pool_size = (2, 2, 2)
bias_shape = (out_channels, 1, 1, 1)
sum_dim = 1


class Model(nn.Module):
    """3D convolution, division, max and global average pooling, bias, sum over `sum_dim`: (B, C_in, D, H, W) -> (B, 1, 1, 1)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, int, int],
        divisor: float,
        pool_size: tuple[int, int, int],
        bias_shape: tuple[int, int, int, int],
        sum_dim: int,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.divisor = divisor
        self.max_pool = nn.MaxPool3d(pool_size)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.sum_dim = sum_dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.max_pool(self.conv(x) / self.divisor)
        x = self.global_avg_pool(x) + self.bias
        return torch.sum(x, dim=self.sum_dim)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, depth, height, width)]


def get_init_inputs() -> list[int | tuple[int, int, int] | float | tuple[int, int, int, int]]:
    return [in_channels, out_channels, kernel_size, divisor, pool_size, bias_shape, sum_dim]
