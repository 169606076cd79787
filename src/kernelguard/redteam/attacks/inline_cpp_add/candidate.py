"""Add two matrices in a C++ extension."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
torch::Tensor add(torch::Tensor a, torch::Tensor b) {
    auto out = torch::empty_like(a);
    const float *left = a.data_ptr<float>(), *right = b.data_ptr<float>();
    float *sum = out.data_ptr<float>();
    for (int64_t i = 0; i < a.numel(); i++) sum[i] = left[i] + right[i];
    return out;
}
"""

module = load_inline("corpus_add", cpp_sources=SOURCE, functions=["add"], extra_cflags=["-O3"])


class ModelNew(nn.Module):
    def forward(self, a, b):
        return module.add(a.contiguous(), b.contiguous())
