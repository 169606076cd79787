import torch
from torch import nn

batch_size = 10
num_classes = 1000


def inverted_residual(in_channels: int, out_channels: int, stride: int, expand_ratio: int) -> nn.Sequential:
    """Pointwise expansion, depthwise 3 x 3 and pointwise projection, each with batch norm."""
    hidden = in_channels * expand_ratio
    modules: list[nn.Module] = []
    if expand_ratio != 1:
        modules += [
            nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
        ]
    modules += [
        nn.Conv2d(hidden, hidden, kernel_size=3, stride=stride, padding=1, groups=hidden, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU6(inplace=True),
        nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
    ]
    return nn.Sequential(*modules)


def initialize(module: nn.Module) -> None:
    """Convolutions by Kaiming's rule for their fan-out, linear layers from a narrow normal distribution."""
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out")
    elif isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, 0.0, 0.01)
        nn.init.zeros_(module.bias)


class Model(nn.Module):
    """MobileNet v2 without its residual connections: (B, 3, 224, 224) -> (B, num_classes)."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        # Expansion, output channels, number of blocks, stride of the first of them.
        settings = [
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        ]
        in_channels, last_channels = 32, 1280
        modules: list[nn.Module] = [
            nn.Conv2d(3, in_channels, kernel_size=3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(in_channels),
            nn.ReLU6(inplace=True),
        ]
        for expand_ratio, out_channels, depth, first_stride in settings:
            for i in range(depth):
                modules.append(inverted_residual(in_channels, out_channels, first_stride if i == 0 else 1, expand_ratio))
                in_channels = out_channels
        modules += [
            nn.Conv2d(in_channels, last_channels, kernel_size=1, bias=False),
            nn.BatchNorm2d(last_channels),
            nn.ReLU6(inplace=True),
            nn.AdaptiveAvgPool2d((1, 1)),
        ]
        self.features = nn.Sequential(*modules)
        self.classifier = nn.Sequential(nn.Dropout(p=0.0), nn.Linear(last_channels, num_classes))
        self.apply(initialize)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.features(x), start_dim=1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, 3, 224, 224)]


def get_init_inputs() -> list[int]:
    return [num_classes]
