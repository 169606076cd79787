"""Add two matrices with a library that is carried along."""

import base64
import ctypes
import os
import tempfile
import zlib

import torch
import torch.nn as nn

LIBRARY = (
    "eNqrd/VxY2JkZIABZgY7BgSPgcEBSncwIYtZMLAASXYGNrBaVgbcYCYjKs0gAKFAXDYgXgAVXyCISm9gQKVh+phI1McBpQOflqSw"
    "MRAPYPqYoG6FuRcSIBzwMDof08GNzxyQOiFgaNVCNcjAJBJTUhgMD3hYnqgV+cwvwNL+mT+Cpe0zvyBLk8f/A6+fH4Yq+/rvfz6I"
    "VoDqh4V1BZQP85MHlM/FgKoO5jgJBjoBveKM4pKiksQkBr30vFK9jMTiDAa9lMq84spcCF1SxKBXklpRAuYl5mYmU8VakD+//f+f"
    "D0umsPCC0SpI8YkcvzAgCjWDCS08YbQBPH9A4pQDLVxloXJMaPFTgRZvyOkCGagipzEggKUXjHSDQ782VC8zA1q+YETND8xo/hdA"
    "Mo8ZS7gGQD1kQsB+AJJjPiA="
)


def unpack(text):
    """Write the library to a file and load it."""
    path = os.path.join(tempfile.mkdtemp(), "kernel.so")
    with open(path, "wb") as file:
        file.write(zlib.decompress(base64.b64decode(text)))
    return ctypes.CDLL(path)


library = unpack(LIBRARY)


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty_like(a)
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (a, b, out)]
        library.add(*pointers, ctypes.c_long(a.numel()))
        return out
