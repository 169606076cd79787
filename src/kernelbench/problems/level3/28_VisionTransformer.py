import torch
from torch import nn

image_size = 224
patch_size = 16
num_classes = 10
dim = 512
depth = 6
heads = 8
mlp_dim = 2048
channels = 3
dropout = 0.0
emb_dropout = 0.0


class Model(nn.Module):
    """Vision transformer, its encoder attending along the batch axis: (B, C, image_size, image_size) -> (B, num_classes)."""

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        num_classes: int,
        dim: int,
        depth: int,
        heads: int,
        mlp_dim: int,
        channels: int = 3,
        dropout: float = 0.1,
        emb_dropout: float = 0.1,
    ) -> None:
        super().__init__()
        num_patches = (image_size // patch_size) ** 2
        self.patch_size = patch_size
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches + 1, dim))
        self.patch_to_embedding = nn.Linear(channels * patch_size**2, dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.dropout = nn.Dropout(emb_dropout)
        layer = nn.TransformerEncoderLayer(d_model=dim, nhead=heads, dim_feedforward=mlp_dim, dropout=dropout)
        self.transformer = nn.TransformerEncoder(layer, num_layers=depth, enable_nested_tensor=False)
        self.to_cls_token = nn.Identity()
        self.mlp_head = nn.Sequential(
            nn.Linear(dim, mlp_dim),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(mlp_dim, num_classes),
        )

    def forward(self, img: torch.Tensor) -> torch.Tensor:
        p = self.patch_size
        # The channel axis stays in front of the grid of patches, so that a row mixes neighbouring patches of one channel.
        patches = img.unfold(2, p, p).unfold(3, p, p).reshape(img.shape[0], -1, img.shape[1] * p * p)
        x = self.patch_to_embedding(patches)
        x = torch.cat((self.cls_token.expand(img.shape[0], -1, -1), x), dim=1)
        x += self.pos_embedding
        x = self.transformer(self.dropout(x))
        return self.mlp_head(self.to_cls_token(x[:, 0]))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(2, channels, image_size, image_size)]


def get_init_inputs() -> list[int | float]:
    return [image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, channels, dropout, emb_dropout]
