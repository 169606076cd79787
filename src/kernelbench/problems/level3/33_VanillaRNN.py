import torch
from torch import nn

batch_size = 256
input_size = 16384
hidden_size = 16384
output_size = 8192
sequence_length = 256


class Model(nn.Module):
    """One step of a recurrent network that keeps its hidden state: (B, input_size), (B, hidden_size) -> (B, output_size)."""

    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.output_size = output_size
        self.hidden = torch.randn(batch_size, hidden_size)
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.tanh = nn.Tanh()

    def forward(self, x: torch.Tensor, initial_hidden: torch.Tensor | None = None) -> torch.Tensor:
        hidden = self.hidden if initial_hidden is None else initial_hidden
        self.hidden = self.tanh(self.i2h(torch.cat((x, hidden.to(x.device)), dim=1)))
        return self.h2o(self.hidden)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, input_size), torch.rand(batch_size, hidden_size)]


def get_init_inputs() -> list[int]:
    return [input_size, hidden_size, output_size]
