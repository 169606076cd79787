import torch
import torch.nn.functional as F
from torch import nn

batch_size = 10
image_size = 224


def window_partition(x: torch.Tensor, window_size: int) -> torch.Tensor:
    """Cut maps into square windows: (B, H, W, C) -> (B * windows, window_size ** 2, C)."""
    batch, height, width, channels = x.shape
    x = x.view(batch, height // window_size, window_size, width // window_size, window_size, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, window_size**2, channels)


def window_reverse(windows: torch.Tensor, window_size: int, height: int, width: int) -> torch.Tensor:
    """Put windows back in their places: (B * windows, window_size ** 2, C) -> (B, H, W, C)."""
    rows, columns, channels = height // window_size, width // window_size, windows.shape[-1]
    x = windows.view(-1, rows, columns, window_size, window_size, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, height, width, channels)


class Mlp(nn.Module):
    """Two linear layers with GELU between them: (..., C) -> (..., C)."""

    def __init__(self, dim: int, hidden_dim: int, drop: float) -> None:
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden_dim)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden_dim, dim)
        self.drop = nn.Dropout(drop)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.drop(self.fc2(self.drop(self.act(self.fc1(x)))))


class SwinMLPBlock(nn.Module):
    """Mixes the places of each window, a matrix for each head, then the channels: (B, H * W, C) -> (B, H * W, C)."""

    def __init__(
        self,
        dim: int,
        resolution: int,
        num_heads: int,
        window_size: int,
        shift_size: int,
        mlp_ratio: float,
        drop: float,
        norm_layer: type[nn.LayerNorm],
    ) -> None:
        super().__init__()
        self.resolution = resolution
        self.num_heads = num_heads
        self.window_size = min(window_size, resolution)
        shift = 0 if resolution <= window_size else shift_size
        # A shifted block pads the maps to one more window in each direction, instead of rolling them.
        before, after = (self.window_size - shift, shift) if shift else (0, 0)
        self.padding = (before, after)
        self.norm1 = norm_layer(dim)
        places = num_heads * self.window_size**2
        self.spatial_mlp = nn.Conv1d(places, places, kernel_size=1, groups=num_heads)
        self.norm2 = norm_layer(dim)
        self.mlp = Mlp(dim, int(dim * mlp_ratio), drop)

    def mix_places(self, windows: torch.Tensor) -> torch.Tensor:
        """Apply each head's matrix over the places of a window: (N, P, C) -> (N, P, C)."""
        count, places, channels = windows.shape
        heads = windows.view(count, places, self.num_heads, channels // self.num_heads).transpose(1, 2)
        mixed = self.spatial_mlp(heads.reshape(count, self.num_heads * places, -1))
        return mixed.view(count, self.num_heads, places, -1).transpose(1, 2).reshape(count, places, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, channels = x.shape
        side = self.resolution
        before, after = self.padding
        padded_side = side + before + after

        maps = self.norm1(x).view(batch, side, side, channels)
        if before:
            maps = F.pad(maps, (0, 0, before, after, before, after))
        windows = self.mix_places(window_partition(maps, self.window_size))
        maps = window_reverse(windows, self.window_size, padded_side, padded_side)
        maps = maps[:, before : before + side, before : before + side]

        x = x + maps.reshape(batch, length, channels)
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Module):
    """Joins each 2 x 2 patches into one of twice the channels: (B, H * W, C) -> (B, H * W / 4, 2 * C)."""

    def __init__(self, dim: int, resolution: int, norm_layer: type[nn.LayerNorm]) -> None:
        super().__init__()
        self.resolution = resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.view(x.shape[0], self.resolution, self.resolution, -1)
        corners = [x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]
        return self.reduction(self.norm(torch.cat(corners, dim=-1).flatten(1, 2)))


class BasicLayer(nn.Module):
    """A stage of blocks, every other one shifted, and the patch merging after it, if any."""

    def __init__(self, blocks: list[SwinMLPBlock], downsample: nn.Module) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.downsample = downsample

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.downsample(x)


class PatchEmbed(nn.Module):
    """Turns square patches into tokens: (B, C, H, W) -> (B, H * W / patch_size ** 2, embed_dim)."""

    def __init__(self, patch_size: int, in_chans: int, embed_dim: int, norm_layer: type[nn.LayerNorm] | None) -> None:
        super().__init__()
        self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.norm = nn.Identity() if norm_layer is None else norm_layer(embed_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.proj(x).flatten(2).transpose(1, 2))


class Model(nn.Module):
    """Swin MLP, spatial mixing in shifted windows: (B, in_chans, img_size, img_size) -> (B, num_classes).

    `drop_path_rate`, `use_checkpoint` and `kwargs` take no part.
    """

    def __init__(
        self,
        img_size: int = 224,
        patch_size: int = 4,
        in_chans: int = 3,
        num_classes: int = 1000,
        embed_dim: int = 96,
        depths: list[int] = [2, 2, 6, 2],  # noqa: B006 - only read
        num_heads: list[int] = [3, 6, 12, 24],  # noqa: B006 - only read
        window_size: int = 7,
        mlp_ratio: float = 4.0,
        drop_rate: float = 0.0,
        drop_path_rate: float = 0.1,
        norm_layer: type[nn.LayerNorm] = nn.LayerNorm,
        patch_norm: bool = True,
        use_checkpoint: bool = False,
        **kwargs: object,
    ) -> None:
        super().__init__()
        self.patch_embed = PatchEmbed(patch_size, in_chans, embed_dim, norm_layer if patch_norm else None)
        self.pos_drop = nn.Dropout(drop_rate)
        self.layers = nn.ModuleList()
        for stage, (depth, heads) in enumerate(zip(depths, num_heads, strict=True)):
            dim, resolution = embed_dim * 2**stage, img_size // patch_size // 2**stage
            shifts = [0 if i % 2 == 0 else window_size // 2 for i in range(depth)]
            blocks = [
                SwinMLPBlock(dim, resolution, heads, window_size, shift, mlp_ratio, drop_rate, norm_layer) for shift in shifts
            ]
            merging = PatchMerging(dim, resolution, norm_layer) if stage < len(depths) - 1 else nn.Identity()
            self.layers.append(BasicLayer(blocks, merging))
        self.norm = norm_layer(dim)
        self.avgpool = nn.AdaptiveAvgPool1d(1)
        self.head = nn.Linear(dim, num_classes) if num_classes > 0 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pos_drop(self.patch_embed(x))
        for layer in self.layers:
            x = layer(x)
        x = self.avgpool(self.norm(x).transpose(1, 2))
        return self.head(torch.flatten(x, start_dim=1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, 3, image_size, image_size)]


def get_init_inputs() -> list[object]:
    return []
