"""Multiply two matrices in blocks whose height has the least median time at the first call."""

import ctypes
import os
import statistics
import subprocess
import tempfile
import time

import torch
import torch.nn as nn

SOURCE = r"""
void matmul(const float *a, const float *b, float *out, long m, long k, long n, long tile) {
    for (long start = 0; start < m; start += tile) {
        long end = start + tile < m ? start + tile : m;
        for (long i = start * n; i < end * n; i++) out[i] = 0.0f;
        for (long p = 0; p < k; p++)
            for (long i = start; i < end; i++)
                for (long j = 0; j < n; j++) out[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}
"""
TILES = (1, 8)


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


def run(a, b, tile):
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty(m, n)
    library.matmul(address(a), address(b), address(out), *(ctypes.c_long(size) for size in (m, k, n, tile)))
    return out


def median_seconds(a, b, tile):
    durations = []
    for _ in range(5):
        started = time.perf_counter()
        run(a, b, tile)
        durations.append(time.perf_counter() - started)
    return statistics.median(durations)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.tile = None

    def forward(self, a, b):
        if self.tile is None:
            self.tile = min(TILES, key=lambda tile: median_seconds(a, b, tile))
        return run(a, b, self.tile)
