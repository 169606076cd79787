import torch
from torch import nn

batch_size = 128
input_size = 16384
layer_sizes = [16384, 16384]
output_size = 8192


class Model(nn.Module):
    """Multilayer perceptron with ReLU between its linear layers: (B, input_size) -> (B, output_size)."""

    def __init__(self, input_size: int, layer_sizes: list[int], output_size: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = input_size
        for layer_size in layer_sizes:
            layers += [nn.Linear(width, layer_size), nn.ReLU()]
            width = layer_size
        self.network = nn.Sequential(*layers, nn.Linear(width, output_size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, input_size)]


def get_init_inputs() -> list[int | list[int]]:
    return [input_size, layer_sizes, output_size]
