"""Mean of each row, expanded."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
void row_mean(const float *x, float *out, long rows, long columns) {
    for (long i = 0; i < rows; i++) {
        double sum = 0.0;
        for (long j = 0; j < columns; j++) sum += x[i * columns + j];
        out[i] = (float)(sum / columns);
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
        means = torch.empty(x.shape[0], 1)
        library.row_mean(address(x), address(means), ctypes.c_long(x.shape[0]), ctypes.c_long(x.shape[1]))
        return means.expand_as(x)
