import math

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


def window_reverse(windows: torch.Tensor, window_size: int, side: int) -> torch.Tensor:
    """Put windows back in their places: (B * windows, window_size ** 2, C) -> (B, side, side, C)."""
    count, channels = side // window_size, windows.shape[-1]
    x = windows.view(-1, count, count, window_size, window_size, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, side, side, channels)


def log_spaced_offsets(window_size: int, pretrained_window_size: int) -> torch.Tensor:
    """All offsets between two places of a window on a signed logarithmic scale, 8 to 1: (1, 2 w - 1, 2 w - 1, 2)."""
    steps = torch.arange(-(window_size - 1), window_size, dtype=torch.float32)
    offsets = torch.cartesian_prod(steps, steps).view(1, len(steps), len(steps), 2)
    table = 8 * offsets / ((pretrained_window_size or window_size) - 1)
    return torch.sign(table) * torch.log2(torch.abs(table) + 1.0) / math.log2(8)


def offset_index(window_size: int) -> torch.Tensor:
    """Which row of the flattened offset table belongs to a pair of places: (w ** 2, w ** 2) of int64."""
    steps = torch.arange(window_size)
    places = torch.cartesian_prod(steps, steps)
    rows, columns = (places[:, None] - places[None, :] + window_size - 1).unbind(-1)
    return rows * (2 * window_size - 1) + columns


def shifted_window_mask(side: int, window_size: int, shift_size: int) -> torch.Tensor:
    """-100 between places that only the cyclic shift brought into one window, else 0: (windows, w ** 2, w ** 2)."""
    regions = torch.zeros(1, side, side, 1)
    bands = (slice(0, -window_size), slice(-window_size, -shift_size), slice(-shift_size, None))
    for i, rows in enumerate(bands):
        for j, columns in enumerate(bands):
            regions[:, rows, columns] = 3 * i + j
    region = window_partition(regions, window_size).squeeze(-1)
    apart = region.unsqueeze(1) != region.unsqueeze(2)
    return torch.zeros(apart.shape).masked_fill(apart, -100.0)


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


class WindowAttention(nn.Module):
    """Scaled cosine attention with a continuous position bias: (windows, w ** 2, C) -> (windows, w ** 2, C)."""

    def __init__(
        self,
        dim: int,
        window_size: int,
        num_heads: int,
        qkv_bias: bool,
        attn_drop: float,
        proj_drop: float,
        pretrained_window_size: int,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.logit_scale = nn.Parameter(torch.log(10 * torch.ones(num_heads, 1, 1)))
        self.cpb_mlp = nn.Sequential(nn.Linear(2, 512), nn.ReLU(inplace=True), nn.Linear(512, num_heads, bias=False))
        self.register_buffer("relative_coords_table", log_spaced_offsets(window_size, pretrained_window_size))
        self.register_buffer("relative_position_index", offset_index(window_size))
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(dim)) if qkv_bias else None
        self.v_bias = nn.Parameter(torch.zeros(dim)) if qkv_bias else None
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)

    def position_bias(self) -> torch.Tensor:
        """16 * sigmoid of what the small network says of each offset: (heads, w ** 2, w ** 2)."""
        table = self.cpb_mlp(self.relative_coords_table).view(-1, self.num_heads)
        bias = table[self.relative_position_index].permute(2, 0, 1).contiguous()
        return 16 * torch.sigmoid(bias)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        count, places, channels = x.shape
        bias = None if self.q_bias is None else torch.cat((self.q_bias, torch.zeros_like(self.v_bias), self.v_bias))
        qkv = F.linear(x, self.qkv.weight, bias).reshape(count, places, 3, self.num_heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)

        scale = torch.clamp(self.logit_scale, max=math.log(100.0)).exp()
        scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1) * scale + self.position_bias()
        if mask is not None:
            scores = scores.view(-1, mask.shape[0], self.num_heads, places, places) + mask.unsqueeze(1)
            scores = scores.view(count, self.num_heads, places, places)
        attended = self.attn_drop(scores.softmax(dim=-1)) @ v
        return self.proj_drop(self.proj(attended.transpose(1, 2).reshape(count, places, channels)))


class SwinTransformerBlock(nn.Module):
    """Window attention and MLP, each normalised after, cyclically shifted by `shift_size`: (B, H * W, C) -> (B, H * W, C)."""

    def __init__(
        self,
        dim: int,
        resolution: int,
        attn: WindowAttention,
        window_size: int,
        shift_size: int,
        mlp: Mlp,
        norm_layer: type[nn.LayerNorm],
    ) -> None:
        super().__init__()
        self.resolution = resolution
        self.window_size = window_size
        self.shift_size = shift_size
        self.norm1 = norm_layer(dim)
        self.attn = attn
        self.norm2 = norm_layer(dim)
        self.mlp = mlp
        self.register_buffer("attn_mask", shifted_window_mask(resolution, window_size, shift_size) if shift_size else None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side, shift = self.resolution, self.shift_size
        maps = x.view(x.shape[0], side, side, -1)
        if shift:
            maps = torch.roll(maps, shifts=(-shift, -shift), dims=(1, 2))
        windows = self.attn(window_partition(maps, self.window_size), self.attn_mask)
        maps = window_reverse(windows, self.window_size, side)
        if shift:
            maps = torch.roll(maps, shifts=(shift, shift), dims=(1, 2))
        x = x + self.norm1(maps.view(x.shape))
        return x + self.norm2(self.mlp(x))


class PatchMerging(nn.Module):
    """Joins each 2 x 2 patches into one of twice the channels: (B, H * W, C) -> (B, H * W / 4, 2 * C)."""

    def __init__(self, dim: int, resolution: int, norm_layer: type[nn.LayerNorm]) -> None:
        super().__init__()
        self.resolution = resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(2 * dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.view(x.shape[0], self.resolution, self.resolution, -1)
        corners = [x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]
        return self.norm(self.reduction(torch.cat(corners, dim=-1).flatten(1, 2)))


class BasicLayer(nn.Module):
    """A stage of blocks, and the patch merging after it, if any."""

    def __init__(self, blocks: list[SwinTransformerBlock], downsample: nn.Module) -> None:
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
    """Swin Transformer v2: (B, in_chans, img_size, img_size) -> (B, num_classes).

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
        qkv_bias: bool = True,
        drop_rate: float = 0.0,
        attn_drop_rate: float = 0.0,
        drop_path_rate: float = 0.1,
        norm_layer: type[nn.LayerNorm] = nn.LayerNorm,
        patch_norm: bool = True,
        use_checkpoint: bool = False,
        pretrained_window_sizes: list[int] = [0, 0, 0, 0],  # noqa: B006 - only read
        **kwargs: object,
    ) -> None:
        super().__init__()
        self.patch_embed = PatchEmbed(patch_size, in_chans, embed_dim, norm_layer if patch_norm else None)
        self.pos_drop = nn.Dropout(drop_rate)
        self.layers = nn.ModuleList()
        for stage, (depth, heads, pretrained) in enumerate(zip(depths, num_heads, pretrained_window_sizes, strict=True)):
            dim, resolution = embed_dim * 2**stage, img_size // patch_size // 2**stage
            window = min(window_size, resolution)
            blocks = []
            for i in range(depth):
                attn = WindowAttention(dim, window, heads, qkv_bias, attn_drop_rate, drop_rate, pretrained)
                mlp = Mlp(dim, int(dim * mlp_ratio), drop_rate)
                shift = window_size // 2 if i % 2 == 1 and resolution > window_size else 0
                blocks.append(SwinTransformerBlock(dim, resolution, attn, window, shift, mlp, norm_layer))
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
