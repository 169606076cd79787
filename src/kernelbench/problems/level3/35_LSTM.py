import torch
from torch import nn

batch_size = 10
sequence_length = 512
input_size = 128
hidden_size = 256
num_layers = 6
output_size = 10
dropout = 0.0


class Model(nn.Module):
    """LSTM from a random state unless one is given, linear head on the last step: (B, T, input_size) -> (B, output_size)."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int, output_size: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.fc = nn.Linear(hidden_size, output_size)

    def forward(self, x: torch.Tensor, h0: torch.Tensor | None = None, c0: torch.Tensor | None = None) -> torch.Tensor:
        shape = (self.num_layers, x.shape[0], self.hidden_size)
        if h0 is None:
            h0 = torch.randn(shape, device=x.device, dtype=x.dtype)
        if c0 is None:
            c0 = torch.randn(shape, device=x.device, dtype=x.dtype)
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1, :])


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, sequence_length, input_size)]


def get_init_inputs() -> list[int | float]:
    return [input_size, hidden_size, num_layers, output_size, dropout]
