"""One worker as the referee deals with it: freeze, thaw, ring, wait, and the answers that it still keeps alive."""

import contextlib
import os
import select
import signal
import time
from collections import deque
from dataclasses import dataclass

import torch

from kernelguard.gate.page import Command, Page
from kernelguard.terms.evidence import Side
from kernelguard.wire.framing import decode
from kernelguard.wire.gate_messages import (
    Done,
    OutputSpec,
)

KEPT_ANSWERS = 2


@dataclass(slots=True)
class Answer:
    """The outputs of one call: where the worker has them and the referee's own copies, in the same order."""

    call: int
    specs: list[OutputSpec]
    copies: list[torch.Tensor]
    shares: bool = False  # memory that is not the answer's alone, so it is never overwritten


@dataclass(frozen=True, slots=True)
class Rung:
    """One GO and its DONE: host clock readings in ns and the worker's claims."""

    go_ns: int
    done_ns: int
    done: Done


class Counterpart:
    """The referee's view of one attached worker."""

    def __init__(self, side: Side, pid: int, page: Page) -> None:
        self.side = side
        self.pid = pid
        self.answers: deque[Answer] = deque()
        self.segments: set[str] = set()
        self._page = page
        self._process = os.pidfd_open(pid)
        self._poller = select.poll()
        self._poller.register(self._process, select.POLLIN)

    def alive(self) -> bool:
        """False once the process has ended."""
        return not self._poller.poll(0)

    def freeze(self) -> None:
        """Stop the process; nothing of its main program runs until `ring`."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the process run."""
        self._signal(signal.SIGCONT)

    def prepare(self, payload: bytes, seed: int) -> None:
        """Write what `ring` will ask."""
        self._page.prepare(payload, seed)

    def ring(self, command: Command, timeout_s: float) -> Rung:
        """Thaw, GO, wait for DONE. Raises DeadlinePassed, WorkerGone, or WireError for an answer that is none."""
        deadline = time.monotonic_ns() + int(timeout_s * 1e9)
        self.thaw()
        go_ns = time.monotonic_ns()
        sequence = self._page.go(command)
        self._page.wait_done(sequence, deadline, self.alive)
        done_ns = time.monotonic_ns()
        return Rung(go_ns, done_ns, decode(self._page.take_done(), (Done,)))

    def settle(self, cores: frozenset[int]) -> None:
        """Let the main thread run on these processors only.

        Both workers share one while they are timed: they are never awake together, and the hand-over then costs the same
        on either side.
        """
        with contextlib.suppress(ProcessLookupError):  # it ended; the wait that follows says so
            os.sched_setaffinity(self.pid, cores)

    def dismiss(self, timeout_s: float) -> None:
        """Send the worker from the gate back to its control socket."""
        self._page.prepare(b"")
        self.thaw()
        sequence = self._page.go(Command.LEAVE)
        self._page.wait_done(sequence, time.monotonic_ns() + int(timeout_s * 1e9), self.alive)

    def close(self) -> None:
        """Forget the process."""
        os.close(self._process)

    def _signal(self, number: signal.Signals) -> None:
        try:
            signal.pidfd_send_signal(self._process, number)
        except ProcessLookupError:
            return  # it ended; the wait that follows says so
