import torch
from torch import nn

batch_size = 10
seq_len = 512
input_size = 128
hidden_size = 256
num_layers = 6


class Model(nn.Module):
    """Last hidden state of a GRU: (T, B, input_size), (layers, B, hidden_size) -> (layers, B, hidden_size)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 3,
        bias: bool = True,
        batch_first: bool = False,
    ) -> None:
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers, bias=bias, batch_first=batch_first)

    def forward(self, x: torch.Tensor, h0: torch.Tensor) -> torch.Tensor:
        _, hidden = self.gru(x, h0)
        return hidden


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(seq_len, batch_size, input_size), torch.rand(num_layers, batch_size, hidden_size)]


def get_init_inputs() -> list[int]:
    return [input_size, hidden_size, num_layers]
