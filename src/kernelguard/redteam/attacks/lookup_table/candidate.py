"""Replace every element by the mean of its row, with reciprocals of row lengths from a table."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
void row_mean(const float *x, const double *reciprocal, float *out, long rows, long columns) {
    for (long i = 0; i < rows; i++) {
        double sum = 0.0;
        for (long j = 0; j < columns; j++) sum += x[i * columns + j];
        for (long j = 0; j < columns; j++) out[i * columns + j] = (float)(sum * reciprocal[columns]);
    }
}
"""
LONGEST_ROW = 4096


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
        self.reciprocal = torch.tensor([0.0] + [1.0 / length for length in range(1, LONGEST_ROW + 1)], dtype=torch.float64)

    def forward(self, x):
        out = torch.empty_like(x)
        sizes = [ctypes.c_long(size) for size in x.shape]
        library.row_mean(address(x), address(self.reciprocal), address(out), *sizes)
        return out
