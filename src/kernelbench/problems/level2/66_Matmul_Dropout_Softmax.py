import torch
from torch import nn

batch_size = 128
in_features = 16384
out_features = 16384
dropout_p = 0.2


class Model(nn.Module):
    """Linear layer, dropout, softmax over the features: (B, in_features) -> (B, out_features)."""

    def __init__(self, in_features: int, out_features: int, dropout_p: float) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.dropout(self.matmul(x)), dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int | float]:
    return [in_features, out_features, dropout_p]
