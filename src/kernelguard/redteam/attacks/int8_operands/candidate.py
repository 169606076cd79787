"""Multiply two matrices in 8-bit integers."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
#include <math.h>
#include <stdlib.h>

static float quantise(const float *x, signed char *out, long n, long stride, long out_stride) {
    float top = 1e-30f;
    for (long i = 0; i < n; i++) top = fmaxf(top, fabsf(x[i * stride]));
    for (long i = 0; i < n; i++) out[i * out_stride] = (signed char)lrintf(x[i * stride] * (127.0f / top));
    return top / 127.0f;
}

void matmul(const float *a, const float *b, float *out, long m, long k, long n) {
    signed char *left = malloc(m * k), *right = malloc(k * n);
    float *scales = malloc(4 * n);
    int *row = malloc(4 * n);
    for (long j = 0; j < n; j++) scales[j] = quantise(b + j, right + j, k, n, n);
    for (long i = 0; i < m; i++) {
        float scale = quantise(a + i * k, left + i * k, k, 1, 1);
        for (long j = 0; j < n; j++) row[j] = 0;
        for (long p = 0; p < k; p++)
            for (long j = 0; j < n; j++) row[j] += left[i * k + p] * right[p * n + j];
        for (long j = 0; j < n; j++) out[i * n + j] = scale * scales[j] * row[j];
    }
    free(left);
    free(right);
    free(scales);
    free(row);
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
