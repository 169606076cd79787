import torch
from torch import nn

batch_size = 10
in_channels = 112
out_channels = 192
kernel_size = 5
stride = 2
expand_ratio = 6


class Model(nn.Module):
    """MBConv block of EfficientNet, without squeeze and excitation: (B, C_in, H, W) -> (B, C_out, H / stride, W / stride)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int, expand_ratio: int) -> None:
        super().__init__()
        self.use_residual = stride == 1 and in_channels == out_channels
        hidden = in_channels * expand_ratio
        self.expand_conv = nn.Identity()
        if expand_ratio != 1:
            self.expand_conv = nn.Sequential(
                nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False),
                nn.BatchNorm2d(hidden),
                nn.ReLU6(inplace=True),
            )
        self.depthwise_conv = nn.Sequential(
            nn.Conv2d(hidden, hidden, kernel_size, stride=stride, padding=(kernel_size - 1) // 2, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
        )
        self.project_conv = nn.Sequential(
            nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.project_conv(self.depthwise_conv(self.expand_conv(x)))
        return out + x if self.use_residual else out


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, 224, 224)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels, kernel_size, stride, expand_ratio]
