"""Which libraries a worker can import, tried in a process of its own: `main`. The supervisor itself imports none of them."""

import importlib
from dataclasses import dataclass

from kernelguard.wire.framing import Channel

OPTIONAL = ("triton", "cuda.bindings.driver")


@dataclass(frozen=True, kw_only=True, slots=True)
class Library:
    """One import: the version if it worked, the reason if not; exactly one of the two is a word."""

    name: str
    version: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Libraries:
    """All imports. `torch_cuda` is the CUDA release that torch was built for, '' without; `torch_hip` likewise for ROCm."""

    found: tuple[Library, ...]
    torch_cuda: str
    torch_hip: str
    cards_seen: int


def main(descriptor: int) -> None:
    """Send one `Libraries` and end."""
    found = tuple(_try(name) for name in ("torch", *OPTIONAL))
    cuda, hip, cards = _ask_torch() if found[0].version else ("", "", 0)
    Channel.from_fd(descriptor).send(Libraries(found=found, torch_cuda=cuda, torch_hip=hip, cards_seen=cards))


def _try(name: str) -> Library:
    try:
        importlib.import_module(name)
    except (ImportError, OSError) as error:  # OSError: a shared library that does not load
        return Library(name=name, version="", reason=str(error).splitlines()[0][:200] if str(error) else type(error).__name__)
    top = importlib.import_module(name.partition(".")[0])
    return Library(name=name, version=str(getattr(top, "__version__", "of unknown version")), reason="")


def _ask_torch() -> tuple[str, str, int]:
    """Releases of CUDA and ROCm that torch was built for, and how many cards it sees; no context is made."""
    torch = importlib.import_module("torch")  # not an import statement: the supervisor's package holds no torch
    return torch.version.cuda or "", torch.version.hip or "", int(torch.cuda.device_count())
