"""Multiply two matrices in a C++ extension that calls at::mm."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
torch::Tensor product(torch::Tensor a, torch::Tensor b) { return at::mm(a, b); }
"""

module = load_inline("corpus_product", cpp_sources=SOURCE, functions=["product"])


class ModelNew(nn.Module):
    def forward(self, a, b):
        return module.product(a, b)
