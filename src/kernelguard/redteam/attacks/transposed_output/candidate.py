"""Multiply two matrices into a column-major result."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
void matmul_columns(const float *rows_of_k, const float *b, float *out, long m, long k, long n) {
    for (long j = 0; j < n; j++) {
        float *column = out + j * m;
        for (long i = 0; i < m; i++) column[i] = 0.0f;
        for (long p = 0; p < k; p++)
            for (long i = 0; i < m; i++) column[i] += rows_of_k[p * m + i] * b[p * n + j];
    }
}
"""


def build(source):
    """Compile C into a shared library in a folder of its own, and load it."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "kernel.c")
    with open(path, "w") as file:
        file.write(source)
    library = os.path.join(folder, "kernel.so")
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, path, "-lm"], check=True)
    return ctypes.CDLL(library)


def address(tensor):
    """Where the first element lies."""
    return ctypes.c_void_p(tensor.data_ptr())


library = build(SOURCE)


class ModelNew(nn.Module):
    def forward(self, a, b):
        (m, k), n = a.shape, b.shape[1]
        transposed = a.t().contiguous()
        out = torch.empty(n, m)
        sizes = [ctypes.c_long(size) for size in (m, k, n)]
        library.matmul_columns(address(transposed), address(b), address(out), *sizes)
        return out.t()
