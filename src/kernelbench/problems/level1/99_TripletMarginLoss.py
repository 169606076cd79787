import torch
from torch import nn

batch_size = 32768
input_shape = (8192,)
dim = 1


class Model(nn.Module):
    """Triplet margin loss with Euclidean distances, mean over the batch: three of (B, N) -> scalar."""

    def __init__(self, margin: float = 1.0) -> None:
        super().__init__()
        self.loss_fn = nn.TripletMarginLoss(margin=margin)

    def forward(self, anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
        return self.loss_fn(anchor, positive, negative)


def get_inputs() -> list[torch.Tensor]:
    scale = torch.rand(())
    return [
        torch.rand(batch_size, *input_shape) * scale,
        torch.rand(batch_size, *input_shape),
        torch.rand(batch_size, *input_shape),
    ]


def get_init_inputs() -> list[float]:
    return [1.0]
