"""Add two matrices in CUDA C."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
#include <cuda_runtime.h>

__global__ void add(const float *a, const float *b, float *out, long n) {
    long stride = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) out[i] = a[i] + b[i];
}

extern "C" int run_add(const float *a, const float *b, float *out, long n, void *stream) {
    add<<<2048, 256, 0, (cudaStream_t)stream>>>(a, b, out, n);
    return cudaGetLastError();
}
"""


def build(source):
    """Compile CUDA into a shared library in a folder of its own, and load it."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "kernel.cu")
    with open(path, "w") as file:
        file.write(source)
    library = os.path.join(folder, "kernel.so")
    arch = os.environ.get("TORCH_CUDA_ARCH_LIST", "9.0").split(";")[0].split("+")[0].replace(".", "")
    subprocess.run(["nvcc", "-O3", f"-arch=sm_{arch}", "-shared", "-Xcompiler", "-fPIC", "-o", library, path], check=True)
    return ctypes.CDLL(library)


def address(tensor):
    """Where the first element lies."""
    return ctypes.c_void_p(tensor.data_ptr())


library = build(SOURCE)


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty_like(a)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        if library.run_add(address(a), address(b), address(out), ctypes.c_long(a.numel()), stream) != 0:
            raise RuntimeError("the kernel could not be launched")
        return out
