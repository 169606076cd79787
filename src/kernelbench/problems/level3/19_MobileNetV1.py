import torch
from torch import nn

batch_size = 10
input_channels = 3
height = 224
width = 224
num_classes = 1000
alpha = 1.0


def conv_bn(in_channels: int, out_channels: int, stride: int) -> nn.Sequential:
    """3 x 3 convolution, batch norm, ReLU."""
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
    )


def conv_dw(in_channels: int, out_channels: int, stride: int) -> nn.Sequential:
    """Depthwise 3 x 3, then pointwise convolution, each with batch norm and ReLU."""
    return nn.Sequential(
        nn.Conv2d(in_channels, in_channels, kernel_size=3, stride=stride, padding=1, groups=in_channels, bias=False),
        nn.BatchNorm2d(in_channels),
        nn.ReLU(inplace=True),
        nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
    )


class Model(nn.Module):
    """MobileNet v1, its widths multiplied by `alpha`: (B, input_channels, 224, 224) -> (B, num_classes)."""

    def __init__(self, num_classes: int = 1000, input_channels: int = 3, alpha: float = 1.0) -> None:
        super().__init__()
        widths = [32, 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024]
        strides = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1]
        channels = [int(width * alpha) for width in widths]
        self.model = nn.Sequential(
            conv_bn(input_channels, channels[0], stride=2),
            *map(conv_dw, channels[:-1], channels[1:], strides),
            nn.AvgPool2d(kernel_size=7),
        )
        self.fc = nn.Linear(channels[-1], num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(torch.flatten(self.model(x), start_dim=1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, input_channels, height, width)]


def get_init_inputs() -> list[int | float]:
    return [num_classes, input_channels, alpha]
