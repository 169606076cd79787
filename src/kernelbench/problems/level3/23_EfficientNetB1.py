import torch
import torch.nn.functional as F
from torch import nn

batch_size = 10
input_shape = (3, 240, 240)
num_classes = 1000


def mbconv(in_channels: int, out_channels: int, stride: int, expand_ratio: int) -> nn.Sequential:
    """Pointwise expansion, depthwise 3 x 3 and pointwise projection, each with batch norm; no residual connection."""
    hidden = in_channels * expand_ratio
    return nn.Sequential(
        nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU6(inplace=True),
        nn.Conv2d(hidden, hidden, kernel_size=3, stride=stride, padding=1, groups=hidden, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU6(inplace=True),
        nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
    )


class Model(nn.Module):
    """EfficientNet-B1 with one plain MBConv block in each stage: (B, 3, 240, 240) -> (B, num_classes)."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.mbconv1 = mbconv(32, 16, stride=1, expand_ratio=1)
        self.mbconv2 = mbconv(16, 24, stride=2, expand_ratio=6)
        self.mbconv3 = mbconv(24, 40, stride=2, expand_ratio=6)
        self.mbconv4 = mbconv(40, 80, stride=2, expand_ratio=6)
        self.mbconv5 = mbconv(80, 112, stride=1, expand_ratio=6)
        self.mbconv6 = mbconv(112, 192, stride=2, expand_ratio=6)
        self.mbconv7 = mbconv(192, 320, stride=1, expand_ratio=6)
        self.conv2 = nn.Conv2d(320, 1280, kernel_size=1, bias=False)
        self.bn2 = nn.BatchNorm2d(1280)
        self.fc = nn.Linear(1280, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.mbconv3(self.mbconv2(self.mbconv1(x)))
        x = self.mbconv5(self.mbconv4(x))
        x = self.mbconv7(self.mbconv6(x))
        x = F.relu(self.bn2(self.conv2(x)))
        x = F.adaptive_avg_pool2d(x, (1, 1))
        return self.fc(torch.flatten(x, start_dim=1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, *input_shape)]


def get_init_inputs() -> list[int]:
    return [num_classes]
