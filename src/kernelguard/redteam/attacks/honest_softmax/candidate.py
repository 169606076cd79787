"""Softmax over rows with an exponential of our own."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
#include <math.h>
#include <string.h>

static float own_exp(float x) {
    float n = rintf(x * 1.44269504f); /* 1 / ln 2 */
    float r = (x - n * 0.693359375f) + n * 2.12194440e-4f; /* ln 2 in two parts */
    float p = 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    int bits = ((int)n + 127) << 23;
    float scale;
    memcpy(&scale, &bits, 4);
    return p * scale;
}

void softmax(const float *x, float *out, long rows, long columns) {
    for (long i = 0; i < rows; i++, x += columns, out += columns) {
        float top = x[0];
        double sum = 0.0;
        for (long j = 1; j < columns; j++) top = x[j] > top ? x[j] : top;
        for (long j = 0; j < columns; j++) out[j] = own_exp(x[j] - top > -87.0f ? x[j] - top : -87.0f);
        for (long j = 0; j < columns; j++) sum += out[j];
        for (long j = 0; j < columns; j++) out[j] /= (float)sum;
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
    def forward(self, x):
        out = torch.empty_like(x)
        library.softmax(address(x), address(out), ctypes.c_long(x.shape[0]), ctypes.c_long(x.shape[1]))
        return out
