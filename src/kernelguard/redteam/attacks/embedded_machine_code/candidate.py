"""Add two matrices with bytes of machine code."""

import ctypes
import mmap

import torch
import torch.nn as nn

CODE = bytes.fromhex("31c04839c87d14f30f100487f30f580486f30f11048248ffc0ebe7c3")  # a loop over movss, addss, movss

memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(CODE)
signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long)
add = signature(ctypes.addressof(ctypes.c_char.from_buffer(memory)))


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty_like(a)
        add(a.data_ptr(), b.data_ptr(), out.data_ptr(), a.numel())
        return out
