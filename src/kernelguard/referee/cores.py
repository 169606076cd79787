"""Which processors referee and workers run on while calls are timed on a GPU."""

import os

MIN_CORES = 4


class Cores:
    """One processor for the referee, one for both workers; nothing is pinned on the CPU or on hosts with few processors.

    Made once, before the referee pins itself.
    """

    def __init__(self) -> None:
        self.all = frozenset(os.sched_getaffinity(0))
        self.worker = self.all

    def settle_self(self, device: str) -> None:
        """Pin the calling thread, and choose the workers' processor, when `device` is a GPU."""
        ordered = sorted(self.all)
        pins = device == "cuda" and len(ordered) >= MIN_CORES
        self.worker = frozenset(ordered[-1:]) if pins else self.all
        os.sched_setaffinity(0, ordered[-3:-2] if pins else self.all)  # not the sibling of the workers' processor
