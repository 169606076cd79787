"""Softmax over rows, with a workspace that is kept between calls."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
#include <math.h>

void softmax(const float *x, float *workspace, float *out, long rows, long columns) {
    for (long i = 0; i < rows; i++) {
        const float *row = x + i * columns;
        float top = row[0], sum = 0.0f;
        for (long j = 1; j < columns; j++) top = row[j] > top ? row[j] : top;
        for (long j = 0; j < columns; j++) sum += workspace[j] = expf(row[j] - top);
        for (long j = 0; j < columns; j++) out[i * columns + j] = workspace[j] / sum;
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
    def __init__(self):
        super().__init__()
        self.workspace = None

    def forward(self, x):
        if self.workspace is None or self.workspace.numel() < x.shape[1]:
            self.workspace = torch.empty(x.shape[1])
        out = torch.empty_like(x)
        sizes = [ctypes.c_long(size) for size in x.shape]
        library.softmax(address(x), address(self.workspace), address(out), *sizes)
        return out
