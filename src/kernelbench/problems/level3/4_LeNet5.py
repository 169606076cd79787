import torch
import torch.nn.functional as F
from torch import nn

batch_size = 4096
num_classes = 20


class Model(nn.Module):
    """LeNet-5 with ReLU and max pooling: (B, 1, 32, 32) -> (B, num_classes)."""

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv1(x)), kernel_size=2, stride=2)
        x = F.max_pool2d(F.relu(self.conv2(x)), kernel_size=2, stride=2)
        x = torch.flatten(x, start_dim=1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, 1, 32, 32)]


def get_init_inputs() -> list[int]:
    return [num_classes]
