import torch
import torch.nn.functional as F
from torch import nn

batch_size = 10
input_channels = 3
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


class ShuffleNetUnit(nn.Module):
    """Grouped convolutions around a channel shuffle and a shortcut: (B, C_in, H, W) -> (B, C_out, H, W)."""

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


def make_stage(in_channels: int, out_channels: int, repeats: int, groups: int) -> nn.Sequential:
    """`repeats` units, the first of which changes the channels; the resolution stays."""
    first = ShuffleNetUnit(in_channels, out_channels, groups)
    return nn.Sequential(first, *(ShuffleNetUnit(out_channels, out_channels, groups) for _ in range(repeats - 1)))


class Model(nn.Module):
    """ShuffleNet whose stages keep the resolution: (B, 3, H, W) -> (B, num_classes)."""

    def __init__(
        self,
        num_classes: int = 1000,
        groups: int = 3,
        stages_repeats: list[int] = [3, 7, 3],  # noqa: B006 - only read
        stages_out_channels: list[int] = [24, 240, 480, 960],  # noqa: B006 - only read
    ) -> None:
        super().__init__()
        channels = stages_out_channels
        self.conv1 = nn.Conv2d(3, channels[0], kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels[0])
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.stage2 = make_stage(channels[0], channels[1], stages_repeats[0], groups)
        self.stage3 = make_stage(channels[1], channels[2], stages_repeats[1], groups)
        self.stage4 = make_stage(channels[2], channels[3], stages_repeats[2], groups)
        self.conv5 = nn.Conv2d(channels[3], 1024, kernel_size=1, bias=False)
        self.bn5 = nn.BatchNorm2d(1024)
        self.fc = nn.Linear(1024, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.stage4(self.stage3(self.stage2(x)))
        x = F.relu(self.bn5(self.conv5(x)))
        x = F.adaptive_avg_pool2d(x, (1, 1))
        return self.fc(torch.flatten(x, start_dim=1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, input_channels, height, width)]


def get_init_inputs() -> list[int]:
    return [num_classes]
