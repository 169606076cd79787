import torch
from torch import nn

batch_size = 64
in_channels = 64
out_channels = 128
kernel_size = 3
length = 524280
stride = 3
dilation = 4


class Model(nn.Module):
    """1D convolution, strided and dilated: (B, C_in, L) -> (B, C_out, L')."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        dilation: int = 1,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.conv1d = nn.Conv1d(in_channels, out_channels, kernel_size, stride=stride, dilation=dilation, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1d(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, length)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels, kernel_size, stride, dilation]
