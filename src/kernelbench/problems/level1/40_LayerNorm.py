import torch
from torch import nn

batch_size = 16
features = 64
dim1 = 256
dim2 = 256


class Model(nn.Module):
    """Layer normalisation over all but the batch: (B, C, H, W) -> (B, C, H, W)."""

    def __init__(self, normalized_shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.ln(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, features, dim1, dim2)]


def get_init_inputs() -> list[tuple[int, int, int]]:
    return [(features, dim1, dim2)]
