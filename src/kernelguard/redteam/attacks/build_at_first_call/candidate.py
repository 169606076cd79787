"""Multiply two matrices with a kernel that is compiled at the first call."""

import ctypes
import functools
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
void matmul(const float *a, const float *b, float *out, long m, long k, long n) {
    for (long i = 0; i < m; i++) {
        for (long j = 0; j < n; j++) out[i * n + j] = 0.0f;
        for (long p = 0; p < k; p++)
            for (long j = 0; j < n; j++) out[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}
"""


@functools.cache
def library():
    """Compile C into a shared library in a folder of its own, and load it."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "kernel.c")
    with open(path, "w") as file:
        file.write(SOURCE)
    target = os.path.join(folder, "kernel.so")
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", target, path], check=True)
    return ctypes.CDLL(target)


class ModelNew(nn.Module):
    def forward(self, a, b):
        (m, k), n = a.shape, b.shape[1]
        out = torch.empty(m, n)
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (a, b, out)]
        library().matmul(*pointers, *(ctypes.c_long(size) for size in (m, k, n)))
        return out
