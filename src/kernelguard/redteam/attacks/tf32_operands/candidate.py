"""Multiply two matrices after rounding them to TF32."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
#include <stdlib.h>
#include <string.h>

static void to_tf32(const float *x, float *out, long n) {
    for (long i = 0; i < n; i++) {
        unsigned bits;
        memcpy(&bits, x + i, 4);
        bits = (bits + 0x1000) & 0xffffe000u;
        memcpy(out + i, &bits, 4);
    }
}

static void product(const float *a, const float *b, float *out, long m, long k, long n) {
    for (long i = 0; i < m; i++) {
        for (long j = 0; j < n; j++) out[i * n + j] = 0.0f;
        for (long p = 0; p < k; p++)
            for (long j = 0; j < n; j++) out[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}

void matmul(const float *a, const float *b, float *out, long m, long k, long n) {
    float *left = malloc(4 * m * k), *right = malloc(4 * k * n);
    to_tf32(a, left, m * k);
    to_tf32(b, right, k * n);
    product(left, right, out, m, k, n);
    free(left);
    free(right);
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


class ModelNew(nn.Module):
    def forward(self, x, w):
        return matmul_into(torch.empty(x.shape[0], w.shape[1]), x, w)
