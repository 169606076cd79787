import torch
from torch import nn

in_channels = 3
out_channels = 64
stride = 1
batch_size = 10
num_classes = 1000


class Model(nn.Module):
    """Basic block of a ResNet with a projected shortcut: (B, C_in, H, W) -> (B, C_out, H / stride, W / stride)."""

    def __init__(self, in_channels: int, out_channels: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.downsample = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=stride, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.downsample(x)
        return self.relu(out)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, 224, 224)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels, stride]
