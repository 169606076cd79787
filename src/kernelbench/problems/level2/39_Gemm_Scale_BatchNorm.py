import torch
from torch import nn

batch_size = 16384
in_features = 4096
out_features = 4096
scale_shape = (out_features,)


class Model(nn.Module):
    """Linear layer, a scale per feature, batch norm: (B, in_features) -> (B, out_features)."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        scale_shape: tuple[int],
        eps: float = 1e-5,
        momentum: float = 0.1,
    ) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.scale = nn.Parameter(torch.randn(scale_shape))
        self.bn = nn.BatchNorm1d(out_features, eps=eps, momentum=momentum)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn(self.gemm(x) * self.scale)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_features)]


def get_init_inputs() -> list[int | tuple[int]]:
    return [in_features, out_features, scale_shape]
