import torch
from torch import nn

batch_size = 128
in_channels = 8
out_channels = 64
height = 128
width = 128
kernel_size = 3
groups = 16


class Model(nn.Module):
    """2D convolution y, log-sum-exp over C of y + hardswish(tanh(groupnorm(y))): (B, C_in, H, W) -> (B, 1, H', W')."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, groups: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.group_norm = nn.GroupNorm(groups, out_channels, eps=eps)
        self.tanh = nn.Tanh()
        self.hard_swish = nn.Hardswish()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv(x)
        x = x + self.hard_swish(self.tanh(self.group_norm(x)))
        return torch.logsumexp(x, dim=1, keepdim=True)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels, kernel_size, groups]
