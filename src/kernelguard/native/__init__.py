"""The native KernelBench evaluation (mode `off`): upstream's numbers, with no trusted status.

Candidate and reference share one process here, as upstream has it, so nothing that this package reports is evidence. It runs in
a process of its own (`python -m kernelguard.native`: a request on stdin, replies on stdout), so that a crash costs only that one.
Importing `kernelguard.native` or its `messages` loads no torch.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelguard.native.evaluation import evaluate_native as evaluate_native

__all__ = ["evaluate_native"]


def __getattr__(name: str) -> object:
    """Load torch on first use, so that whoever only speaks the messages stays light."""
    if name == "evaluate_native":
        from kernelguard.native.evaluation import evaluate_native  # noqa: PLC0415 - the light import is the point

        return evaluate_native
    raise AttributeError(name)
