import torch
from torch import nn

batch_size = 256
num_classes = 1000


class Model(nn.Module):
    """First convolution of AlexNet, 11 x 11 with stride 4: (B, 3, 224, 224) -> (B, 96, 55, 55)."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.conv1 = nn.Conv2d(3, 96, kernel_size=11, stride=4, padding=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, 3, 224, 224)]


def get_init_inputs() -> list[int]:
    return [num_classes]
