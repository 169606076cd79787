"""Multiply two matrices, after packing the second one in panels of columns."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
enum { PANEL = 32 };

void pack(const float *b, float *panels, long k, long n) {
    for (long start = 0; start < n; start += PANEL)
        for (long p = 0; p < k; p++)
            for (long j = 0; j < PANEL; j++) panels[start * k + p * PANEL + j] = start + j < n ? b[p * n + start + j] : 0.0f;
}

void multiply(const float *a, const float *panels, float *out, long m, long k, long n) {
    for (long start = 0; start < n; start += PANEL)
        for (long i = 0; i < m; i++) {
            float sums[PANEL] = {0};
            for (long p = 0; p < k; p++)
                for (long j = 0; j < PANEL; j++) sums[j] += a[i * k + p] * panels[start * k + p * PANEL + j];
            for (long j = 0; j < PANEL && start + j < n; j++) out[i * n + start + j] = sums[j];
        }
}
"""
PANEL = 32


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
        (m, k), n = a.shape, b.shape[1]
        panels, out = torch.empty(-(-n // PANEL) * PANEL * k), torch.empty(m, n)
        library.pack(address(b), address(panels), ctypes.c_long(k), ctypes.c_long(n))
        library.multiply(address(a), address(panels), address(out), ctypes.c_long(m), ctypes.c_long(k), ctypes.c_long(n))
        return out
