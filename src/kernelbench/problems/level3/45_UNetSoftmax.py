import torch
from torch import nn

batch_size = 8
in_channels = 8
out_channels = 4
height = 64
width = 512
features = 64


class DoubleConv(nn.Module):
    """Two 3 x 3 convolutions with batch norm and a softmax along each row: (B, C_in, H, W) -> (B, C_out, H, W)."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.Softmax(dim=-1),
            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.Softmax(dim=-1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.double_conv(x)


def upconv(in_channels: int, out_channels: int) -> nn.ConvTranspose2d:
    """Doubles height and width."""
    return nn.ConvTranspose2d(in_channels, out_channels, kernel_size=2, stride=2)


class Model(nn.Module):
    """U-Net with row softmax for activation: (B, in_channels, H, W) -> (B, out_channels, H, W), H and W multiples of 16."""

    def __init__(self, in_channels: int, out_channels: int, features: int) -> None:
        super().__init__()
        self.encoder1 = DoubleConv(in_channels, features)
        self.pool1 = nn.MaxPool2d(kernel_size=2, stride=2)
        self.encoder2 = DoubleConv(features, features * 2)
        self.pool2 = nn.MaxPool2d(kernel_size=2, stride=2)
        self.encoder3 = DoubleConv(features * 2, features * 4)
        self.pool3 = nn.MaxPool2d(kernel_size=2, stride=2)
        self.encoder4 = DoubleConv(features * 4, features * 8)
        self.pool4 = nn.MaxPool2d(kernel_size=2, stride=2)
        self.bottleneck = DoubleConv(features * 8, features * 16)
        self.upconv4 = upconv(features * 16, features * 8)
        self.decoder4 = DoubleConv(features * 16, features * 8)
        self.upconv3 = upconv(features * 8, features * 4)
        self.decoder3 = DoubleConv(features * 8, features * 4)
        self.upconv2 = upconv(features * 4, features * 2)
        self.decoder2 = DoubleConv(features * 4, features * 2)
        self.upconv1 = upconv(features * 2, features)
        self.decoder1 = DoubleConv(features * 2, features)
        self.final_conv = nn.Conv2d(features, out_channels, kernel_size=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skip1 = self.encoder1(x)
        skip2 = self.encoder2(self.pool1(skip1))
        skip3 = self.encoder3(self.pool2(skip2))
        skip4 = self.encoder4(self.pool3(skip3))
        x = self.bottleneck(self.pool4(skip4))
        x = self.decoder4(torch.cat([self.upconv4(x), skip4], dim=1))
        x = self.decoder3(torch.cat([self.upconv3(x), skip3], dim=1))
        x = self.decoder2(torch.cat([self.upconv2(x), skip2], dim=1))
        x = self.decoder1(torch.cat([self.upconv1(x), skip1], dim=1))
        return self.final_conv(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels, features]
