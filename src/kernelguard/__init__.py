"""KernelGuard: is this GPU kernel right, and how fast is it really?

Importing the package loads no machinery (no torch, no process). `kernelguard.evaluate` is looked up when it is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelguard.evaluation.candidate import evaluate as evaluate

__version__ = "0.1.0"
__all__ = ["__version__", "evaluate"]


def __getattr__(name: str) -> object:
    """Load the evaluator on first use, so that reading records and help texts stays light."""
    if name == "evaluate":
        from kernelguard.evaluation.candidate import evaluate  # noqa: PLC0415 - the light import is the point

        return evaluate
    raise AttributeError(name)
