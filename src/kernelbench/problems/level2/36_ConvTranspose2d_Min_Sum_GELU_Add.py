import torch
import torch.nn.functional as F
from torch import nn

batch_size = 16
in_channels = 64
out_channels = 128
height = 128
width = 128
kernel_size = 3
stride = 2
padding = 1
output_padding = 1
bias_shape = (1, 1, 1)


class Model(nn.Module):
    """Transposed 2D convolution, minimum over the channels, sum over the rows, GELU, bias: (B, C_in, H, W) -> (B, 1, 1, W')."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        output_padding: int,
        bias_shape: tuple[int, int, int],
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, output_padding=output_padding
        )
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.min(self.conv_transpose(x), dim=1, keepdim=True).values
        x = torch.sum(x, dim=2, keepdim=True)
        return F.gelu(x) + self.bias


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs() -> list[int | tuple[int, int, int]]:
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape]
