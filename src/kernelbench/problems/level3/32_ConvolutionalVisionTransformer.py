import torch
from torch import nn

batch_size = 10
image_size = 32
embed_dim = 128
in_channels = 3
num_heads = 4
num_classes = 1000


class Model(nn.Module):
    """Transformer over a class token and one token for the whole image: (B, C, image_size, image_size) -> (B, num_classes)."""

    def __init__(
        self,
        num_classes: int,
        embed_dim: int = 512,
        num_heads: int = 8,
        num_layers: int = 6,
        mlp_ratio: float = 4.0,
        patch_size: int = 4,
        in_channels: int = 3,
        image_size: int = 32,
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.linear_proj = nn.Linear(embed_dim * (image_size // patch_size) ** 2, embed_dim)
        self.transformer_layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                d_model=embed_dim,
                nhead=num_heads,
                dim_feedforward=int(embed_dim * mlp_ratio),
                dropout=0.0,
                batch_first=True,
            )
            for _ in range(num_layers)
        )
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.fc_out = nn.Linear(embed_dim, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        image = self.linear_proj(torch.flatten(self.conv1(x), start_dim=1))
        tokens = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), image.unsqueeze(1)), dim=1)
        for layer in self.transformer_layers:
            tokens = layer(tokens)
        return self.fc_out(tokens[:, 0])


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, image_size, image_size)]


def get_init_inputs() -> list[int]:
    return [num_classes, embed_dim, num_heads]
