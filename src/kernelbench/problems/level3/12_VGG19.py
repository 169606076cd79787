import torch
from torch import nn

batch_size = 10
num_classes = 1000


def make_features(stages: list[list[int]]) -> nn.Sequential:
    """3 x 3 convolutions with ReLU, one for each width in a stage, and a max pooling after each stage."""
    modules: list[nn.Module] = []
    in_channels = 3
    for stage in stages:
        for out_channels in stage:
            modules += [nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1), nn.ReLU(inplace=True)]
            in_channels = out_channels
        modules.append(nn.MaxPool2d(kernel_size=2, stride=2))
    return nn.Sequential(*modules)


class Model(nn.Module):
    """VGG-19: (B, 3, 224, 224) -> (B, num_classes)."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.features = make_features([[64] * 2, [128] * 2, [256] * 4, [512] * 4, [512] * 4])
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=0.0),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=0.0),
            nn.Linear(4096, num_classes),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.features(x), start_dim=1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, 3, 224, 224)]


def get_init_inputs() -> list[int]:
    return [num_classes]
