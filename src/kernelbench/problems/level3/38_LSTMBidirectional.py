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
    """Bidirectional LSTM, head on the last step: (B, T, input_size), two of (2 * layers, B, hidden_size) -> (B, output_size)."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int, output_size: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout, bidirectional=True)
        self.fc = nn.Linear(2 * hidden_size, output_size)

    def forward(self, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor) -> torch.Tensor:
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1, :])


def get_inputs() -> list[torch.Tensor]:
    x = torch.rand(batch_size, sequence_length, input_size)
    h0 = torch.rand(2 * num_layers, batch_size, hidden_size)
    c0 = torch.rand(2 * num_layers, batch_size, hidden_size)
    return [x, h0, c0]


def get_init_inputs() -> list[int | float]:
    return [input_size, hidden_size, num_layers, output_size, dropout]
