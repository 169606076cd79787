import torch
from torch import nn

embed_dim = 128
num_heads = 4
batch_size = 2
num_channels = 128
image_height = 128
image_width = 128


class Model(nn.Module):
    """Self-attention over all pixels, residual, layer norm over the channels: (B, embed_dim, H, W) -> (B, embed_dim, H, W)."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads)
        self.norm = nn.LayerNorm(embed_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        pixels = x.view(batch, channels, height * width).permute(2, 0, 1)
        attended, _ = self.attn(pixels, pixels, pixels)
        return self.norm(attended + pixels).permute(1, 2, 0).view(batch, channels, height, width)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, num_channels, image_height, image_width)]


def get_init_inputs() -> list[int]:
    return [embed_dim, num_heads]
