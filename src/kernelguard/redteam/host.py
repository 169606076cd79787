"""What this host offers to the cases of the corpus."""

import ctypes
import functools
import importlib.util
import platform
import shutil
import sys
from pathlib import Path

_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture
_ASK_FOR_VERSION = 1
_DEVICE_FILES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg")


@functools.cache
def available_needs() -> frozenset[str]:
    """The words of `Case.needs` that this host satisfies. Torch is asked, and imported, only where there is a device file."""
    found = {
        "cc": shutil.which("cc") is not None,
        "cxx": shutil.which("c++") is not None and shutil.which("ninja") is not None,
        "nvcc": shutil.which("nvcc") is not None,
        "x86_64": platform.machine() == "x86_64",
        "landlock": sys.platform == "linux" and _landlock_version() >= 1,
        "cuda": _has_cuda(),
        "triton": importlib.util.find_spec("triton") is not None,
    }
    return frozenset(name for name, there in found.items() if there)


def _landlock_version() -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_FOR_VERSION))


def _has_cuda() -> bool:
    if not any(Path(name).exists() for name in _DEVICE_FILES):
        return False
    import torch  # noqa: PLC0415 - listing the corpus needs no torch

    return bool(torch.cuda.is_available())
