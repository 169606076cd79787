"""Softmax over rows, with the exponentials written over the input."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
#include <math.h>

void softmax(float *x, float *out, long rows, long columns) {
    for (long i = 0; i < rows; i++) {
        float *row = x + i * columns, top = row[0], sum = 0.0f;
        for (long j = 1; j < columns; j++) top = row[j] > top ? row[j] : top;
        for (long j = 0; j < columns; j++) sum += row[j] = expf(row[j] - top);
        for (long j = 0; j < columns; j++) out[i * columns + j] = row[j] / sum;
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
    def forward(self, x):
        out = torch.empty_like(x)
        library.softmax(address(x), address(out), ctypes.c_long(x.shape[0]), ctypes.c_long(x.shape[1]))
        return out
