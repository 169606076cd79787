import torch
from torch import nn

batch_size = 128
num_input_features = 32
num_output_features = 64
height = 256
width = 256


class Model(nn.Module):
    """Transition layer of a DenseNet, it changes the channels and halves the image: (B, C_in, H, W) -> (B, C_out, H/2, W/2)."""

    def __init__(self, num_input_features: int, num_output_features: int) -> None:
        super().__init__()
        self.transition = nn.Sequential(
            nn.BatchNorm2d(num_input_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(num_input_features, num_output_features, kernel_size=1, bias=False),
            nn.AvgPool2d(kernel_size=2, stride=2),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.transition(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, num_input_features, height, width)]


def get_init_inputs() -> list[int]:
    return [num_input_features, num_output_features]
