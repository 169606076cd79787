import math

import torch
import torch.nn.functional as F
from torch import nn

batch_size = 2048
num_features = 100
num_clusters = 32
feature_size = 512
ghost_clusters = 16


class Model(nn.Module):
    """NetVLAD with ghost clusters that take assignments and give no output: (B, N, D) -> (B, D * cluster_size)."""

    def __init__(self, cluster_size: int, feature_size: int, ghost_clusters: int) -> None:
        super().__init__()
        self.feature_size = feature_size
        self.cluster_size = cluster_size
        self.ghost_clusters = ghost_clusters
        self.out_dim = cluster_size * feature_size
        scale = 1 / math.sqrt(feature_size)
        self.clusters = nn.Parameter(scale * torch.randn(feature_size, cluster_size + ghost_clusters))
        self.batch_norm = nn.BatchNorm1d(cluster_size + ghost_clusters)
        self.clusters2 = nn.Parameter(scale * torch.randn(1, feature_size, cluster_size))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """`mask` takes no part, as in the benchmark."""
        count = x.size(1)
        features = x.view(-1, self.feature_size)
        assignment = F.softmax(self.batch_norm(torch.matmul(features, self.clusters)), dim=1)
        assignment = assignment[:, : self.cluster_size].view(-1, count, self.cluster_size)

        centres = torch.sum(assignment, dim=1, keepdim=True) * self.clusters2
        gathered = torch.matmul(assignment.transpose(1, 2), x).transpose(1, 2)
        vlad = F.normalize(gathered - centres)
        return F.normalize(vlad.reshape(-1, self.out_dim))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, num_features, feature_size)]


def get_init_inputs() -> list[int]:
    return [num_clusters, feature_size, ghost_clusters]
