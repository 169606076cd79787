import torch
import torch.nn.functional as F
from torch import nn

batch_size = 10
num_classes = 10
height = 224
width = 224


def make_layer(in_features: int, growth_rate: int) -> nn.Sequential:
    """Batch norm, ReLU and a 3 x 3 convolution: (B, C_in, H, W) -> (B, growth_rate, H, W)."""
    return nn.Sequential(
        nn.BatchNorm2d(in_features),
        nn.ReLU(inplace=True),
        nn.Conv2d(in_features, growth_rate, kernel_size=3, padding=1, bias=False),
        nn.Dropout(p=0.0),
    )


class DenseBlock(nn.Module):
    """Each layer reads all maps before it: (B, C_in, H, W) -> (B, C_in + num_layers * growth_rate, H, W)."""

    def __init__(self, num_layers: int, num_input_features: int, growth_rate: int) -> None:
        super().__init__()
        widths = [num_input_features + i * growth_rate for i in range(num_layers)]
        self.layers = nn.ModuleList(make_layer(width, growth_rate) for width in widths)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = [x]
        for layer in self.layers:
            features.append(layer(x))
            x = torch.cat(features, dim=1)
        return x


class TransitionLayer(nn.Module):
    """Changes the channels and halves the image: (B, C_in, H, W) -> (B, C_out, H / 2, W / 2)."""

    def __init__(self, num_input_features: int, num_output_features: int) -> None:
        super().__init__()
        self.transition = nn.Sequential(
            nn.BatchNorm2d(num_input_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(num_input_features, num_output_features, kernel_size=1, bias=False),
            nn.AvgPool2d(kernel_size=2, stride=2),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.transition(x)


class Model(nn.Module):
    """DenseNet-201 without bottleneck layers: (B, 3, H, W) -> (B, num_classes)."""

    def __init__(self, growth_rate: int = 32, num_classes: int = 1000) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
        )
        self.dense_blocks = nn.ModuleList()
        self.transition_layers = nn.ModuleList()
        block_layers = [6, 12, 48, 32]
        num_features = 64
        for i, num_layers in enumerate(block_layers):
            self.dense_blocks.append(DenseBlock(num_layers, num_features, growth_rate))
            num_features += num_layers * growth_rate
            if i < len(block_layers) - 1:
                self.transition_layers.append(TransitionLayer(num_features, num_features // 2))
                num_features //= 2
        self.final_bn = nn.BatchNorm2d(num_features)
        self.classifier = nn.Linear(num_features, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.features(x)
        for block, transition in zip(self.dense_blocks[:-1], self.transition_layers, strict=True):
            x = transition(block(x))
        x = F.relu(self.final_bn(self.dense_blocks[-1](x)), inplace=True)
        x = F.adaptive_avg_pool2d(x, (1, 1))
        return self.classifier(torch.flatten(x, start_dim=1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, 3, height, width)]


def get_init_inputs() -> list[int]:
    return [32, num_classes]
