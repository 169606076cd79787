import torch
from torch import nn

batch_size = 10
height = 224
width = 224
layers = [3, 4, 23, 3]
num_classes = 1000


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 and 1 x 1 convolution around a shortcut: (B, C_in, H, W) -> (B, 4 * width, H / stride, W / stride)."""

    expansion = 4

    def __init__(self, in_channels: int, width: int, stride: int = 1, downsample: nn.Module | None = None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, width, kernel_size=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, self.expansion * width, kernel_size=1, bias=False)
        self.bn3 = nn.BatchNorm2d(self.expansion * width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


def make_layer(in_channels: int, width: int, depth: int, stride: int = 1) -> nn.Sequential:
    """`depth` bottleneck blocks, the first of which changes channels and resolution."""
    out_channels = Bottleneck.expansion * width
    downsample = nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=stride, bias=False),
        nn.BatchNorm2d(out_channels),
    )
    first = Bottleneck(in_channels, width, stride, downsample)
    return nn.Sequential(first, *(Bottleneck(out_channels, width) for _ in range(depth - 1)))


class Model(nn.Module):
    """ResNet of bottleneck blocks, `layers` in each stage, ResNet-101 as given: (B, 3, H, W) -> (B, num_classes)."""

    def __init__(self, layers: list[int], num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = make_layer(64, 64, layers[0])
        self.layer2 = make_layer(256, 128, layers[1], stride=2)
        self.layer3 = make_layer(512, 256, layers[2], stride=2)
        self.layer4 = make_layer(1024, 512, layers[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(2048, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), start_dim=1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, 3, height, width)]


def get_init_inputs() -> list[list[int] | int]:
    return [layers, num_classes]
