"""Add two matrices with four native threads, and wait for all of them."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
#include <pthread.h>

struct part { const float *a, *b; float *out; long n; };

static void *work(void *given) {
    struct part *part = given;
    for (long i = 0; i < part->n; i++) part->out[i] = part->a[i] + part->b[i];
    return NULL;
}

void add(const float *a, const float *b, float *out, long n) {
    pthread_t threads[4];
    struct part parts[4];
    for (int t = 0; t < 4; t++) {
        long from = n * t / 4, to = n * (t + 1) / 4;
        parts[t] = (struct part){a + from, b + from, out + from, to - from};
        pthread_create(&threads[t], NULL, work, &parts[t]);
    }
    for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
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
    def forward(self, a, b):
        return add_into(torch.empty_like(a), a, b)
