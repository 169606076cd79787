"""Add two matrices in a CUDA extension."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor add(torch::Tensor a, torch::Tensor b);"
CUDA = r"""
#include <ATen/cuda/CUDAContext.h>

__global__ void add_kernel(const float *a, const float *b, float *out, long n) {
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

torch::Tensor add(torch::Tensor a, torch::Tensor b) {
    auto out = torch::empty_like(a);
    long n = a.numel();
    auto stream = at::cuda::getCurrentCUDAStream();
    add_kernel<<<(n + 255) / 256, 256, 0, stream>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
"""

module = load_inline("corpus_cuda_add", cpp_sources=CPP, cuda_sources=CUDA, functions=["add"])


class ModelNew(nn.Module):
    def forward(self, a, b):
        return module.add(a, b)
