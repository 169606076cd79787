import torch
from torch import nn

batch_size = 128
num_input_features = 3
num_output_features = 64
height = 256
width = 256
squeeze_channels = 6
expand1x1_channels = 64
expand3x3_channels = 64


class Model(nn.Module):
    """Fire module of SqueezeNet: (B, C_in, H, W) -> (B, expand1x1_channels + expand3x3_channels, H, W)."""

    def __init__(self, in_channels: int, squeeze_channels: int, expand1x1_channels: int, expand3x3_channels: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(in_channels, squeeze_channels, kernel_size=1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_channels, expand1x1_channels, kernel_size=1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_channels, expand3x3_channels, kernel_size=3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.squeeze_activation(self.squeeze(x))
        narrow = self.expand1x1_activation(self.expand1x1(x))
        wide = self.expand3x3_activation(self.expand3x3(x))
        return torch.cat([narrow, wide], dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, num_input_features, height, width)]


def get_init_inputs() -> list[int]:
    return [num_input_features, squeeze_channels, expand1x1_channels, expand3x3_channels]
