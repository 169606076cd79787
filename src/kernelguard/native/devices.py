"""The device that a native evaluation runs on."""

import platform
from typing import cast

import torch

from kernelguard.terms.errors import HostError, UsageError

NVIDIA_ONLY = frozenset({"cuda", "cute", "thunderkittens"})


def resolve_device(device: torch.device | str | int | None) -> torch.device:
    """The device meant, with an index if it is CUDA; None is the current CUDA device.

    Raises UsageError for a device that does not exist, HostError where CUDA is asked for and absent.
    """
    if isinstance(device, int):
        device = f"cuda:{device}"
    try:
        wanted = torch.device("cuda" if device is None else device)
    except RuntimeError as error:
        raise UsageError(f"device={device!r}: write cuda, cuda:<n> or cpu") from error
    if wanted.type == "cpu":
        return wanted
    if wanted.type != "cuda":
        raise UsageError(f"device={device!r}: only cuda and cpu can be evaluated on")
    if not torch.cuda.is_available():
        raise HostError("CUDA is not available: run on a CUDA host, or say device=cpu")
    index = cast("int | None", wanted.index)  # None for a plain `cuda`, whatever torch's annotations say
    index = torch.cuda.current_device() if index is None else index
    if index >= torch.cuda.device_count():
        raise UsageError(f"device={device!r}: this host has {torch.cuda.device_count()} CUDA device(s)")
    return torch.device("cuda", index)


def synchronize(device: torch.device) -> None:
    """Wait for all streams of a CUDA device; a CPU has nothing to wait for."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def hardware_name(device: torch.device) -> str:
    """The card's name as CUDA gives it, or the machine type for a CPU."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU ({platform.machine()})"


def gpu_vendor(device: torch.device) -> str:
    """`nvidia`, `amd` or `unknown`, read off the card's name."""
    name = hardware_name(device).upper()
    if "NVIDIA" in name:
        return "nvidia"
    return "amd" if "AMD" in name or "MI3" in name else "unknown"


def require_backend(backend: str, device: torch.device, dtype: torch.dtype) -> None:
    """Raise UsageError for a backend that this device or precision rules out, as upstream does."""
    name = backend.lower()
    if name == "tilelang" and dtype is torch.float32:
        raise UsageError("backend=tilelang: only precision=fp16 and precision=bf16 are supported")
    if device.type == "cpu":
        return
    vendor = gpu_vendor(device)
    if name == "hip" and vendor != "amd":
        raise UsageError(f"backend=hip needs an AMD card, this one is {vendor}")
    if name in NVIDIA_ONLY and vendor == "amd":
        raise UsageError(f"backend={name} needs an NVIDIA card, this one is {vendor}")
