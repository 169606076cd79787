import torch
from torch import nn

batch_size = 32768
input_shape = (32768,)
dim = 1


class Model(nn.Module):
    """Hinge loss, mean over all elements, targets laid along the last axis: (B, N), (N,) of -1 or 1 -> scalar, N = B."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return torch.mean(torch.clamp(1 - predictions * targets, min=0))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, *input_shape), torch.randint(0, 2, (batch_size,)).float() * 2 - 1]


def get_init_inputs() -> list[object]:
    return []
