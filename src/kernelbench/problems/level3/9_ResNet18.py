import torch
from torch import nn

batch_size = 2
num_classes = 1000
input_shape = (batch_size, 3, 224, 224)


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions around a shortcut: (B, C_in, H, W) -> (B, C_out, H / stride, W / stride)."""

    def __init__(self, in_channels: int, out_channels: int, stride: int = 1, downsample: nn.Module | None = None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.downsample = downsample

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


def make_layer(in_channels: int, out_channels: int, stride: int = 1) -> nn.Sequential:
    """Two basic blocks, the first of which changes channels and resolution."""
    downsample = None
    if stride != 1 or in_channels != out_channels:
        downsample = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=stride, bias=False),
            nn.BatchNorm2d(out_channels),
        )
    return nn.Sequential(
        BasicBlock(in_channels, out_channels, stride, downsample),
        BasicBlock(out_channels, out_channels),
    )


class Model(nn.Module):
    """ResNet-18: (B, 3, 224, 224) -> (B, num_classes)."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = make_layer(64, 64)
        self.layer2 = make_layer(64, 128, stride=2)
        self.layer3 = make_layer(128, 256, stride=2)
        self.layer4 = make_layer(256, 512, stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), start_dim=1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(input_shape)]


def get_init_inputs() -> list[int]:
    return [num_classes]
