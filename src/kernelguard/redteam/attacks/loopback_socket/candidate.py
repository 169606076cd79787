"""Add two matrices, provided that there is a network."""

import ctypes
import os
import socket
import subprocess
import tempfile

import torch
import torch.nn as nn

with socket.create_server(("127.0.0.1", 0)) as listener:
    with socket.create_connection(listener.getsockname(), timeout=1.0) as client:
        server, _ = listener.accept()
        client.sendall(b"?")
        if server.recv(1) != b"?":
            raise ConnectionError("the network does not work")
        server.close()

SOURCE = r"""
void add(const float *a, const float *b, float *out, long n) {
    for (long i = 0; i < n; i++) out[i] = a[i] + b[i];
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
