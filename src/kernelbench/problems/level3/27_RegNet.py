import torch
from torch import nn

batch_size = 8
input_channels = 3
image_height = 224
image_width = 224
stages = 3
block_widths = [64, 128, 256]
output_classes = 10


def make_stage(in_channels: int, out_channels: int) -> nn.Sequential:
    """Two 3 x 3 convolutions with batch norm and ReLU, then max pooling: (B, C_in, H, W) -> (B, C_out, H / 2, W / 2)."""
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
        nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
        nn.MaxPool2d(kernel_size=2, stride=2),
    )


class Model(nn.Module):
    """RegNet of plain stages, mean over the image, linear head: (B, input_channels, H, W) -> (B, output_classes)."""

    def __init__(self, input_channels: int, stages: int, block_widths: list[int], output_classes: int) -> None:
        super().__init__()
        widths = [input_channels, *block_widths]
        self.feature_extractor = nn.Sequential(*(make_stage(widths[i], widths[i + 1]) for i in range(stages)))
        self.fc = nn.Linear(block_widths[-1], output_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.mean(self.feature_extractor(x), dim=(2, 3))
        return self.fc(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, input_channels, image_height, image_width)]


def get_init_inputs() -> list[int | list[int]]:
    return [input_channels, stages, block_widths, output_classes]
