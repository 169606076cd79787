import torch
from torch import nn

batch_size = 10
num_layers = 6
num_input_features = 32
growth_rate = 32
height = 224
width = 224


def make_layer(in_features: int, growth_rate: int) -> nn.Sequential:
    """Batch norm, ReLU and a 3 x 3 convolution: (B, C_in, H, W) -> (B, growth_rate, H, W)."""
    return nn.Sequential(
        nn.BatchNorm2d(in_features),
        nn.ReLU(inplace=True),
        nn.Conv2d(in_features, growth_rate, kernel_size=3, padding=1, bias=False),
        nn.Dropout(p=0.0),
    )


class Model(nn.Module):
    """Dense block, each layer reads all maps before it: (B, C_in, H, W) -> (B, C_in + num_layers * growth_rate, H, W)."""

    def __init__(self, num_layers: int, num_input_features: int, growth_rate: int) -> None:
        super().__init__()
        widths = [num_input_features + i * growth_rate for i in range(num_layers)]
        self.layers = nn.ModuleList(make_layer(width, growth_rate) for width in widths)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = [x]
        for layer in self.layers:
            features.append(layer(x))
            x = torch.cat(features, dim=1)
        return x


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, num_input_features, height, width)]


def get_init_inputs() -> list[int]:
    return [num_layers, num_input_features, growth_rate]
