"""The shared page between referee and worker: GO with what is asked, DONE with what is claimed, each behind a sequence number.

The page is a memfd that can't change its size, so that a worker can't make the referee fault by truncating it.
What the referee reads from it is copied once and only then looked at.
"""

import fcntl
import mmap
import os
import time
from collections.abc import Callable
from enum import IntEnum

from kernelguard.terms.errors import WireError

PAGE_BYTES = 256 << 10
_HEADER_BYTES = 4096
AREA_BYTES = (PAGE_BYTES - _HEADER_BYTES) // 2
_GO_AT = _HEADER_BYTES
_DONE_AT = _HEADER_BYTES + AREA_BYTES
_GO_SEQ, _COMMAND, _SEED, _GO_LEN, _DONE_SEQ, _DONE_LEN = range(6)  # 64-bit words
_SPIN = 100_000  # turns without a pause: some 10 ms, longer than a freeze takes to arrive
_PAUSE_S = 50e-6
_LOOK_EVERY = 512


class Command(IntEnum):
    """What GO asks for."""

    CALL = 1
    NOOP = 2  # a call that runs no program, for calibration
    LEAVE = 3  # back to the control socket


class DeadlinePassed(Exception):
    """No DONE before the deadline."""


class WorkerGone(Exception):
    """The worker's process ended while its answer was awaited."""


def create_page() -> int:
    """A new page as a descriptor of a sealed memfd."""
    return create_sealed("kernelguard-gate", PAGE_BYTES)


def create_sealed(name: str, size: int) -> int:
    """A memfd of `size` bytes whose size can never change again."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return descriptor


class Page:
    """A mapping of the page. `patient` yields the processor while waiting: for hosts with few cores, at the price of jitter."""

    def __init__(self, descriptor: int, *, patient: bool = False) -> None:
        self._map = mmap.mmap(descriptor, PAGE_BYTES)
        self._words = memoryview(self._map)[:_HEADER_BYTES].cast("Q")
        self._patient = patient
        self._rung = 0

    # ------------------------------------------------------------------------------------------ the referee's side

    def prepare(self, payload: bytes, seed: int = 0) -> None:
        """Write what will be asked, and the seed of the device's generator. Nothing of it counts before `go`."""
        if len(payload) > AREA_BYTES:
            raise WireError(f"{len(payload)} bytes do not fit on the page")
        self._map[_GO_AT : _GO_AT + len(payload)] = payload
        self._words[_GO_LEN] = len(payload)
        self._words[_SEED] = seed

    def go(self, command: Command) -> int:
        """Ring: returns the sequence number that DONE must carry."""
        self._rung += 1  # our own count: what stands on the page may have been written by the worker
        self._words[_COMMAND] = int(command)
        self._words[_GO_SEQ] = self._rung
        return self._rung

    def wait_done(self, sequence: int, deadline_ns: int, alive: Callable[[], bool]) -> None:
        """Return when DONE carries `sequence`. Raises DeadlinePassed or WorkerGone."""
        turns = 0
        while self._words[_DONE_SEQ] != sequence:
            turns += 1
            if self._patient or turns > _SPIN:
                time.sleep(_PAUSE_S)
            if turns % _LOOK_EVERY == 0 or self._patient:
                if time.monotonic_ns() > deadline_ns:
                    raise DeadlinePassed
                if turns % _LOOK_EVERY == 0 and not alive() and self._words[_DONE_SEQ] != sequence:
                    raise WorkerGone

    def take_done(self) -> bytes:
        """One copy of what the worker wrote; its length is bounded here. Raises WireError."""
        length = int(self._words[_DONE_LEN])
        if length > AREA_BYTES:
            raise WireError(f"DONE announces {length} bytes; the page holds {AREA_BYTES}")
        return bytes(self._map[_DONE_AT : _DONE_AT + length])

    # ------------------------------------------------------------------------------------------ the worker's side

    def wait_go(self, last: int) -> tuple[int, Command]:
        """Wait for a GO other than `last`; the supervisor's kill is the deadline. Returns its number and command."""
        turns = 0
        words = self._words
        while words[_GO_SEQ] == last:
            turns += 1
            if turns > _SPIN or self._patient:
                time.sleep(_PAUSE_S)
        return int(words[_GO_SEQ]), Command(int(words[_COMMAND]))

    def read_go(self) -> tuple[bytes, int]:
        """What is asked, and the seed."""
        return self._asked(), int(self._words[_SEED])

    def _asked(self) -> bytes:
        return bytes(self._map[_GO_AT : _GO_AT + min(int(self._words[_GO_LEN]), AREA_BYTES)])

    def done(self, sequence: int, payload: bytes) -> None:
        """Say that the answer is ready, and where."""
        if len(payload) > AREA_BYTES:
            raise WireError(f"{len(payload)} bytes do not fit on the page")
        self._map[_DONE_AT : _DONE_AT + len(payload)] = payload
        self._words[_DONE_LEN] = len(payload)
        self._words[_DONE_SEQ] = sequence
