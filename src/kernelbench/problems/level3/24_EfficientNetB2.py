import torch
from torch import nn

batch_size = 2
num_classes = 1000


def mbconv(in_channels: int, out_channels: int, stride: int, expand_ratio: int) -> nn.Sequential:
    """Expansion, depthwise 3 x 3, squeeze and excitation, projection: (B, C_in, H, W) -> (B, C_out, 1, 1).

    The excitation is passed on instead of scaling the maps it came from, so that nothing spatial is left after a block.
    """
    hidden = in_channels * expand_ratio
    return nn.Sequential(
        nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU(inplace=True),
        nn.Conv2d(hidden, hidden, kernel_size=3, stride=stride, padding=1, groups=hidden, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d((1, 1)),
        nn.Conv2d(hidden, hidden // 4, kernel_size=1, bias=False),
        nn.ReLU(inplace=True),
        nn.Conv2d(hidden // 4, hidden, kernel_size=1, bias=False),
        nn.Sigmoid(),
        nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
    )


class Model(nn.Module):
    """EfficientNet-B2 with its excitations in series: (B, 3, 224, 224) -> (B, num_classes)."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.relu = nn.ReLU(inplace=True)
        self.mbconv1 = mbconv(32, 96, stride=1, expand_ratio=3)
        self.mbconv2 = mbconv(96, 144, stride=2, expand_ratio=6)
        self.mbconv3 = mbconv(144, 192, stride=2, expand_ratio=6)
        self.mbconv4 = mbconv(192, 288, stride=2, expand_ratio=6)
        self.mbconv5 = mbconv(288, 384, stride=1, expand_ratio=6)
        self.conv_final = nn.Conv2d(384, 1408, kernel_size=1, bias=False)
        self.bn_final = nn.BatchNorm2d(1408)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(1408, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.mbconv3(self.mbconv2(self.mbconv1(x)))
        x = self.mbconv5(self.mbconv4(x))
        x = self.relu(self.bn_final(self.conv_final(x)))
        return self.fc(torch.flatten(self.avgpool(x), start_dim=1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, 3, 224, 224)]


def get_init_inputs() -> list[int]:
    return [num_classes]
