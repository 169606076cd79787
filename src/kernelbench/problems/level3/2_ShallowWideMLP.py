import torch
from torch import nn

batch_size = 128
input_size = 16384
hidden_layer_sizes = [32768, 32768]
output_size = 16384


class Model(nn.Module):
    """Shallow and wide multilayer perceptron, ReLU between its layers: (B, input_size) -> (B, output_size)."""

    def __init__(self, input_size: int, hidden_layer_sizes: list[int], output_size: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = input_size
        for hidden_size in hidden_layer_sizes:
            layers += [nn.Linear(width, hidden_size), nn.ReLU()]
            width = hidden_size
        self.network = nn.Sequential(*layers, nn.Linear(width, output_size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, input_size)]


def get_init_inputs() -> list[int | list[int]]:
    return [input_size, hidden_layer_sizes, output_size]
