import torch
import torch.nn.functional as F
from torch import nn

batch_size = 16384
input_shape = (16384,)
dim = 1


class Model(nn.Module):
    """Kullback-Leibler divergence KL(targets || predictions), mean over the batch: (B, N), (B, N) -> scalar."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.kl_div(torch.log(predictions), targets, reduction="batchmean")


def get_inputs() -> list[torch.Tensor]:
    scale = torch.rand(())
    return [(torch.rand(batch_size, *input_shape) * scale).softmax(dim=-1), torch.rand(batch_size, *input_shape).softmax(dim=-1)]


def get_init_inputs() -> list[object]:
    return []
