"""Add two matrices with a kernel that was compiled from standard input."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
void add(const float *a, const float *b, float *out, long n) {
    for (long i = 0; i < n; i++) out[i] = a[i] + b[i];
}
"""


def build(source):
    """Compile C from a pipe into a shared library in a folder of its own, and load it."""
    library = os.path.join(tempfile.mkdtemp(), "kernel.so")
    subprocess.run(["cc", "-O3", "-shared", "-fPIC", "-o", library, "-x", "c", "-"], input=source.encode(), check=True)
    return ctypes.CDLL(library)


def address(tensor):
    """Where the first element lies."""
    return ctypes.c_void_p(tensor.data_ptr())


library = build(SOURCE)


def add_into(out, a, b):
    library.add(address(a), address(b), address(out), ctypes.c_long(a.numel()))
    return out


class ModelNew(nn.Module):
    def forward(self, a, b):
        return add_into(torch.empty_like(a), a, b)
