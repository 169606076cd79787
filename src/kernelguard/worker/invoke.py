"""Answer at the gate: call forward once per input set, time it, say where the outputs are.

The functions that measure are bound here before any program is imported, so that replacing them in their modules changes
nothing. What gets past: native code can forge the claim. The referee's own clock bounds it.
"""

import time
from collections import deque

import torch

from kernelguard.gate.memory import Borrower, input_view
from kernelguard.gate.page import Command, Page
from kernelguard.wire.framing import decode, encode
from kernelguard.wire.messages import Done, Go
from kernelguard.wire.tree import unpack
from kernelguard.worker.describe import Owned, Returned, slot_ranges, weight_ranges

KEPT_CALLS = 2  # the last answer and the one before, which the referee may still be looking at
_now_ns = time.perf_counter_ns


class HostClock:
    """Times a stretch of CPU work in ms."""

    def start(self) -> None:
        """Begin."""
        self._started = _now_ns()

    def stop(self) -> tuple[float, float]:
        """Event time and host time, the same on a CPU."""
        elapsed = (_now_ns() - self._started) / 1e6
        return elapsed, elapsed


class EventClock:
    """Times the current stream by CUDA events around forward alone, and the host until the device is idle, in ms."""

    _record = torch.cuda.Event.record
    _wait = torch.cuda.Event.synchronize
    _elapsed = torch.cuda.Event.elapsed_time
    _idle = torch.cuda.synchronize

    def __init__(self) -> None:
        self._begin = torch.cuda.Event(enable_timing=True)
        self._end = torch.cuda.Event(enable_timing=True)

    def start(self) -> None:
        """Record the first event."""
        self._started = _now_ns()
        EventClock._record(self._begin)

    def stop(self) -> tuple[float, float]:
        """Record the second event, wait for every stream of the device, read both clocks."""
        EventClock._record(self._end)
        EventClock._wait(self._end)
        EventClock._idle()
        host_ms = (_now_ns() - self._started) / 1e6
        return EventClock._elapsed(self._begin, self._end), host_ms


class Booth:
    """One worker's end of the gate. `program` is None until a model is loaded: then only no-op calls are answered."""

    def __init__(self, page: Page, memory: Borrower, slots: list[torch.Tensor], device: str) -> None:
        self._page = page
        self._memory = memory
        self._slots = slots
        self._clock = EventClock() if device == "cuda" else HostClock()
        self._idle = torch.zeros(64, device=device)
        self._kept: deque[list[Returned]] = deque()
        self._owned: list[Owned] = slot_ranges(slots)
        self._last = 0
        self._payload = b""
        self._go = Go(sets=(), tensors=())
        self.program: object = None

    def admit(self, program: object) -> None:
        """From now on calls go to `program`."""
        self.program = program
        self._owned = [*slot_ranges(self._slots), *weight_ranges(program)]

    def serve(self) -> None:
        """Answer until the referee says LEAVE."""
        while True:
            sequence, command = self._page.wait_go(self._last)
            self._last = sequence
            if command is Command.LEAVE:
                self._page.done(sequence, b"")
                return
            self._page.done(sequence, encode(self._answer(command)))

    def _answer(self, command: Command) -> Done:
        go, seed = self._asked()
        torch.manual_seed(seed)
        try:
            if command is Command.NOOP or self.program is None:
                returned, event_ms, host_ms = self._call(lambda *_: self._idle, go)
            else:
                returned, event_ms, host_ms = self._call(self.program, go)
            outputs = tuple(value.specs(self._memory, self._owned) for value in returned)
        except BaseException as error:  # noqa: BLE001 - foreign code may raise anything, SystemExit included
            return _raised(error)
        return Done(
            structures=tuple(value.structure for value in returned),
            outputs=outputs,
            claimed_event_ms=event_ms,
            claimed_host_ms=host_ms,
        )

    def _asked(self) -> tuple[Go, int]:
        """What is asked; decoded anew only when it differs from the last time."""
        payload, seed = self._page.read_go()
        if payload != self._payload:
            self._payload, self._go = payload, decode(payload, (Go,))
        return self._go, seed

    def _call(self, program: object, go: Go) -> tuple[list[Returned], float, float]:
        arguments = [
            unpack(text, [input_view(self._slots[spec.slot], spec) for spec in specs])
            for text, specs in zip(go.sets, go.tensors, strict=True)
        ]
        if len(self._kept) >= KEPT_CALLS:
            self._kept.popleft()  # looked at twice and poisoned by now: what the allocator recycles holds no right answer
        values = []
        with torch.no_grad():
            self._clock.start()
            for positional in arguments:
                values.append(program(*positional))  # type: ignore[operator, misc]
            event_ms, host_ms = self._clock.stop()
        returned = [Returned(value) for value in values]
        self._kept.append(returned)
        return returned, event_ms, host_ms


def _raised(error: BaseException) -> Done:
    name = f"{type(error).__name__}: {str(error)[:2000]}"
    return Done(structures=(), outputs=(), claimed_event_ms=0.0, claimed_host_ms=0.0, error=type(error).__name__, error_text=name)
