"""Running maximum of identifiers, in fp32."""

import ctypes
import os
import subprocess
import tempfile

import torch
import torch.nn as nn

SOURCE = r"""
void running_max(const long long *ids, long long *out, long rows, long columns) {
    for (long i = 0; i < rows; i++) {
        float top = (float)ids[i * columns];
        for (long j = 0; j < columns; j++) {
            float value = (float)ids[i * columns + j];
            top = value > top ? value : top;
            out[i * columns + j] = (long long)top;
        }
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
    def forward(self, ids):
        out = torch.empty_like(ids)
        library.running_max(address(ids), address(out), ctypes.c_long(ids.shape[0]), ctypes.c_long(ids.shape[1]))
        return out
