"""The two streams: plain text where nobody looks, colours and width where somebody does."""

import sys

from rich.console import Console

PIPED_WIDTH = 120  # a file or a pipe has no width of its own


def printer() -> Console:
    """Standard output."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)


def errors() -> Console:
    """Standard error, for progress; never a result."""
    return Console(stderr=True, highlight=False)
