"""Add two matrices three times and fall asleep."""

import ctypes
import os
import subprocess
import tempfile
import time

import torch
import torch.nn as nn

SOURCE = r"""
void add(const float *a, const float *b, float *out, long n) {
    for (long i = 0; i < n; i++) out[i] = a[i] + b[i];
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


def add_into(out, a, b):
    library.add(address(a), address(b), address(out), ctypes.c_long(a.numel()))
    return out


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, a, b):
        self.calls += 1
        if self.calls > 3:
            time.sleep(3600)
        return add_into(torch.empty_like(a), a, b)
