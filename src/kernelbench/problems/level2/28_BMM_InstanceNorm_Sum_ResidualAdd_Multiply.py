import torch
from torch import nn

batch_size = 1024
in_features = 8192
out_features = 8192


class Model(nn.Module):
    """Linear layer, instance norm of each row, plus y, times y: (B, in_features), (B, out_features) -> (B, out_features)."""

    def __init__(self, in_features: int, out_features: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.bmm = nn.Linear(in_features, out_features)
        self.instance_norm = nn.InstanceNorm2d(out_features, eps=eps, momentum=momentum)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        # Each sample as an image of one channel and one row, so that the norm runs over its features.
        x = self.instance_norm(self.bmm(x).unsqueeze(1).unsqueeze(1)).squeeze(1).squeeze(1)
        return (x + y) * y


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features), torch.rand(batch_size, out_features)]


def get_init_inputs() -> list[int]:
    return [in_features, out_features]
