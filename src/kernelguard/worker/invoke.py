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
from kernelguard.wire.gate_messages import (
    Done,
    Go,
)
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
        self._ready: list[object] | None = None
        # torch.manual_seed does the same by way of every backend there might be, which takes a third of a millisecond
        self._generators = [torch.default_generator, *(torch.cuda.default_generators if device == "cuda" else ())]
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
        noop = command is Command.NOOP or self.program is None
        try:
            arguments = self._arguments(rehearsal=noop)
            returned, event_ms, host_ms = self._call(self._idle_program if noop else self.program, arguments)
            if not noop:
                self._kept.append(returned)
            outputs = tuple(value.specs(self._memory, self._owned) for value in returned)
        except BaseException as error:  # noqa: BLE001 - foreign code may raise anything, SystemExit included
            return _raised(error)
        return Done(
            structures=tuple(value.structure for value in returned),
            outputs=outputs,
            claimed_event_ms=event_ms,
            claimed_host_ms=host_ms,
        )

    def _arguments(self, *, rehearsal: bool) -> list[object]:
        """The arguments of forward for each input set: new tensor objects for every call, made in the rehearsal before it.

        Built anew within the call only when something else is asked than was rehearsed.
        """
        payload, seed = self._page.read_go()
        for generator in self._generators:
            generator.manual_seed(seed)
        if payload != self._payload:
            self._payload, self._go, self._ready = payload, decode(payload, (Go,)), None
        ready, self._ready = self._ready, None
        if ready is None or rehearsal:
            ready = [
                unpack(text, [input_view(self._slots[spec.slot], spec) for spec in specs])
                for text, specs in zip(self._go.sets, self._go.tensors, strict=True)
            ]
        if rehearsal:
            self._ready = ready
        return ready

    def _idle_program(self, *_: object) -> torch.Tensor:
        """Stands for a program that does nothing."""
        return self._idle

    def _call(self, program: object, arguments: list[object]) -> tuple[list[Returned], float, float]:
        if program is self.program and len(self._kept) >= KEPT_CALLS:
            self._kept.popleft()  # looked at twice and poisoned by now: what the allocator recycles holds no right answer
        values = []
        with torch.no_grad():
            self._clock.start()
            for positional in arguments:
                values.append(program(*positional))  # type: ignore[operator, misc]  # noqa: PERF401 - a comprehension hides the order
            event_ms, host_ms = self._clock.stop()
        return [Returned(value) for value in values], event_ms, host_ms


def _raised(error: BaseException) -> Done:
    name = f"{type(error).__name__}: {str(error)[:2000]}"
    return Done(structures=(), outputs=(), claimed_event_ms=0.0, claimed_host_ms=0.0, error=type(error).__name__, error_text=name)
