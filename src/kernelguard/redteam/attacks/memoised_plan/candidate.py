"""Multiply two matrices by a plan that is kept for each shape."""

import ctypes
import functools
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

CACHE_FLOATS = 1 << 13

SOURCE = r"""
void matmul(const float *a, const float *b, float *out, long m, long k, long n) {
    for (long i = 0; i < m; i++) {
        for (long j = 0; j < n; j++) out[i * n + j] = 0.0f;
        for (long p = 0; p < k; p++)
            for (long j = 0; j < n; j++) out[i * n + j] += a[i * k + p] * b[p * n + j];
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


def matmul_into(out, a, b):
    (m, k), n = a.shape, b.shape[1]
    library.matmul(address(a), address(b), address(out), ctypes.c_long(m), ctypes.c_long(k), ctypes.c_long(n))
    return out


@functools.lru_cache(maxsize=8)
def plan(rows, inner, columns):
    """The bounds of the row tiles: as many rows at a time as fit into the first cache."""
    tile = max(1, CACHE_FLOATS // (inner + columns))
    return tuple((start, min(start + tile, rows)) for start in range(0, rows, tile))


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty(a.shape[0], b.shape[1])
        for start, end in plan(a.shape[0], a.shape[1], b.shape[1]):
            matmul_into(out[start:end], a[start:end], b)
        return out
