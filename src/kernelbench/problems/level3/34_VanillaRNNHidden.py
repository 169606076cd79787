import torch
from torch import nn

batch_size = 8
input_size = 1024
hidden_size = 256
output_size = 128
sequence_length = 256


class Model(nn.Module):
    """Recurrent network, its output at each step: (T, B, input_size), (B, hidden_size) -> (T, B, output_size)."""

    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.output_size = output_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.tanh = nn.Tanh()

    def forward(self, x: torch.Tensor, h0: torch.Tensor) -> torch.Tensor:
        hidden = h0
        outputs = []
        for step in x:
            hidden = self.tanh(self.i2h(torch.cat((step, hidden), dim=1)))
            outputs.append(self.h2o(hidden))
        return torch.stack(outputs)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(sequence_length, batch_size, input_size), torch.rand(batch_size, hidden_size)]


def get_init_inputs() -> list[int]:
    return [input_size, hidden_size, output_size]
