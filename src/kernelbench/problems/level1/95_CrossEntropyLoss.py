import torch
import torch.nn.functional as F
from torch import nn

batch_size = 32768
num_classes = 4096
input_shape = (4096,)
dim = 1


class Model(nn.Module):
    """Cross entropy of logits and class indices, mean over the batch: (B, C), (B,) of int64 -> scalar."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(predictions, targets)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, *input_shape), torch.randint(0, num_classes, (batch_size,))]


def get_init_inputs() -> list[object]:
    return []
