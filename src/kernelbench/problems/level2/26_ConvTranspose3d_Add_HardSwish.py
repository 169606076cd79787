import torch
import torch.nn.functional as F
from torch import nn

batch_size = 128
in_channels = 32
out_channels = 64
D = 16
H = 16
W = 16
kernel_size = 3
stride = 2
padding = 1
output_padding = 1
bias_shape = (out_channels, 1, 1, 1, 1)


class Model(nn.Module):
    """With y a transposed 3D convolution plus a second input, y * hardswish(y): (B, C_in, D, H, W) -> (B, C_out, D', H', W')."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        output_padding: int,
        bias_shape: tuple[int, int, int, int, int],
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, output_padding=output_padding
        )
        self.bias = nn.Parameter(torch.randn(bias_shape))  # takes no part in forward

    def forward(self, x: torch.Tensor, add_input: torch.Tensor) -> torch.Tensor:
        x = self.conv_transpose(x) + add_input
        return x * F.hardswish(x)


def get_inputs() -> list[torch.Tensor]:
    x = torch.rand(batch_size, in_channels, D, H, W)
    return [x, torch.rand(batch_size, out_channels, D * stride, H * stride, W * stride)]


def get_init_inputs() -> list[int | tuple[int, int, int, int, int]]:
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape]
