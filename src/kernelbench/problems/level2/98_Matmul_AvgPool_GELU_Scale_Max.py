import torch
import torch.nn.functional as F
from torch import nn

batch_size = 1024
in_features = 8192
out_features = 8192
pool_kernel_size = 16
scale_factor = 2.0


class Model(nn.Module):
    """Linear layer, average pooling along the features, GELU, scaling, maximum over the features: (B, in_features) -> (B,)."""

    def __init__(self, in_features: int, out_features: int, pool_kernel_size: int, scale_factor: float) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.avg_pool = nn.AvgPool1d(kernel_size=pool_kernel_size)
        self.scale_factor = scale_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.avg_pool(self.matmul(x).unsqueeze(1)).squeeze(1)
        return torch.max(F.gelu(x) * self.scale_factor, dim=1).values


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int | float]:
    return [in_features, out_features, pool_kernel_size, scale_factor]
