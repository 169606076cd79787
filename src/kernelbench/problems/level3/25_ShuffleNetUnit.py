import torch
import torch.nn.functional as F
from torch import nn

batch_size = 10
input_channels = 240
out_channels = 480
groups = 3
height = 224
width = 224
num_classes = 1000


class ChannelShuffle(nn.Module):
    """Deals the channels of each group out over all groups: (B, C, H, W) -> (B, C, H, W)."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        x = x.view(batch, self.groups, channels // self.groups, height, width)
        return x.transpose(1, 2).reshape(batch, channels, height, width)


class Model(nn.Module):
    """ShuffleNet unit, grouped convolutions around a channel shuffle and a shortcut: (B, C_in, H, W) -> (B, C_out, H, W)."""

    def __init__(self, in_channels: int, out_channels: int, groups: int = 3) -> None:
        super().__init__()
        hidden = out_channels // 4
        self.conv1 = nn.Conv2d(in_channels, hidden, kernel_size=1, groups=groups, bias=False)
        self.bn1 = nn.BatchNorm2d(hidden)
        self.conv2 = nn.Conv2d(hidden, hidden, kernel_size=3, padding=1, groups=hidden, bias=False)
        self.bn2 = nn.BatchNorm2d(hidden)
        self.conv3 = nn.Conv2d(hidden, out_channels, kernel_size=1, groups=groups, bias=False)
        self.bn3 = nn.BatchNorm2d(out_channels)
        self.shuffle = ChannelShuffle(groups)
        self.shortcut = nn.Sequential()
        if in_channels != out_channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=False),
                nn.BatchNorm2d(out_channels),
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.shuffle(self.bn2(self.conv2(out)))
        out = F.relu(self.bn3(self.conv3(out)))
        out += self.shortcut(x)
        return out


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, input_channels, height, width)]


def get_init_inputs() -> list[int]:
    return [input_channels, out_channels, groups]
