"""Multiply two matrices by three TF32 products."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
#include <stdlib.h>
#include <string.h>

static float to_tf32(float x) {
    unsigned bits;
    memcpy(&bits, &x, 4);
    bits = (bits + 0x1000) & 0xffffe000u;
    memcpy(&x, &bits, 4);
    return x;
}

static void split(const float *x, float *head, float *tail, long n) {
    for (long i = 0; i < n; i++) {
        head[i] = to_tf32(x[i]);
        tail[i] = to_tf32(x[i] - head[i]);
    }
}

void matmul(const float *a, const float *b, float *out, long m, long k, long n) {
    float *space = malloc(8 * (m * k + k * n));
    float *ah = space, *al = ah + m * k, *bh = al + m * k, *bl = bh + k * n;
    split(a, ah, al, m * k);
    split(b, bh, bl, k * n);
    for (long i = 0; i < m; i++) {
        float *row = out + i * n;
        for (long j = 0; j < n; j++) row[j] = 0.0f;
        for (long p = 0; p < k; p++) {
            float head = ah[i * k + p], tail = al[i * k + p];
            for (long j = 0; j < n; j++) row[j] += tail * bh[p * n + j] + head * bl[p * n + j] + head * bh[p * n + j];
        }
    }
    free(space);
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
