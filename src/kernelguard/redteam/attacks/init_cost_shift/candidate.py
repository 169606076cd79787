"""A rectified linear layer whose weights are transposed once, at construction."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
void linear_relu(const float *x, const float *columns, const float *bias, float *out, long rows, long k, long n) {
    for (long i = 0; i < rows; i++) {
        float *row = out + i * n;
        for (long j = 0; j < n; j++) row[j] = bias[j];
        for (long p = 0; p < k; p++)
            for (long j = 0; j < n; j++) row[j] += x[i * k + p] * columns[p * n + j];
        for (long j = 0; j < n; j++) row[j] = row[j] > 0.0f ? row[j] : 0.0f;
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
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)
        self.register_buffer("columns", self.linear.weight.detach().t().contiguous())

    def forward(self, x):
        (rows, k), n = x.shape, self.columns.shape[1]
        out = torch.empty(rows, n)
        tensors = (x, self.columns, self.linear.bias, out)
        library.linear_relu(*map(address, tensors), ctypes.c_long(rows), ctypes.c_long(k), ctypes.c_long(n))
        return out
