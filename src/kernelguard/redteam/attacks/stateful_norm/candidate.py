"""Batch normalisation in train mode, in C, with running statistics."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
#include <math.h>

void batch_norm(const float *x, const float *gain, const float *shift, float *mean, float *variance, float *out,
                long rows, long columns, float eps, float momentum) {
    for (long j = 0; j < columns; j++) {
        double sum = 0.0, squares = 0.0;
        for (long i = 0; i < rows; i++) sum += x[i * columns + j];
        double centre = sum / rows;
        for (long i = 0; i < rows; i++) {
            double off = x[i * columns + j] - centre;
            squares += off * off;
        }
        double scale = 1.0 / sqrt(squares / rows + eps);
        for (long i = 0; i < rows; i++)
            out[i * columns + j] = (float)((x[i * columns + j] - centre) * scale) * gain[j] + shift[j];
        mean[j] += momentum * ((float)centre - mean[j]);
        variance[j] += momentum * ((float)(squares / (rows - 1)) - variance[j]);
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
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)

    def forward(self, x):
        norm, out = self.norm, torch.empty_like(x)
        tensors = (x, norm.weight, norm.bias, norm.running_mean, norm.running_var, out)
        sizes = [ctypes.c_long(size) for size in x.shape]
        library.batch_norm(*map(address, tensors), *sizes, ctypes.c_float(norm.eps), ctypes.c_float(norm.momentum))
        norm.num_batches_tracked += 1
        return out
