"""Add two matrices in blocks whose order is given by a table of bytes."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

ORDER = bytes([0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15])
SOURCE = r"""
void add(const float *a, const float *b, float *out, long n, const unsigned char *order, long blocks) {
    for (long block = 0; block < blocks; block++) {
        long from = n * order[block] / blocks, to = n * (order[block] + 1) / blocks;
        for (long i = from; i < to; i++) out[i] = a[i] + b[i];
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
        out = torch.empty_like(a)
        library.add(address(a), address(b), address(out), ctypes.c_long(a.numel()), ORDER, ctypes.c_long(len(ORDER)))
        return out
