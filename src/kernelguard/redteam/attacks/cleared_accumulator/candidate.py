"""Multiply two matrices with two threads that share the inner dimension and add atomically."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct part { const float *a, *b; float *out; long m, k, n, from, to; };

static void add_atomically(float *place, float value) {
    unsigned *word = (unsigned *)place, old = __atomic_load_n(word, __ATOMIC_RELAXED), new;
    do {
        float sum;
        memcpy(&sum, &old, 4);
        sum += value;
        memcpy(&new, &sum, 4);
    } while (!__atomic_compare_exchange_n(word, &old, new, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static void *work(void *given) {
    struct part *part = given;
    float *row = malloc(4 * part->n);
    for (long i = 0; i < part->m; i++) {
        memset(row, 0, 4 * part->n);
        for (long p = part->from; p < part->to; p++)
            for (long j = 0; j < part->n; j++) row[j] += part->a[i * part->k + p] * part->b[p * part->n + j];
        for (long j = 0; j < part->n; j++) add_atomically(part->out + i * part->n + j, row[j]);
    }
    free(row);
    return NULL;
}

void matmul(const float *a, const float *b, float *out, long m, long k, long n) {
    pthread_t thread;
    struct part low = {a, b, out, m, k, n, 0, k / 2}, high = {a, b, out, m, k, n, k / 2, k};
    memset(out, 0, 4 * m * n);
    pthread_create(&thread, NULL, work, &low);
    work(&high);
    pthread_join(thread, NULL);
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
    def forward(self, a, b):
        return matmul_into(torch.empty(a.shape[0], b.shape[1]), a, b)
