"""What happens on the device before GO, as one queued chain with a clock around it: pour, flush, and an idle probe.

A chain that takes longer than its own calibrated time had to share the device with somebody (RH-09).
What gets past: work on the host's processors, and device work shorter than the band.
"""

import time
from collections.abc import Sequence
from typing import Protocol

import torch

FLUSH_FACTOR = 2
HOLD_MS = 0.4  # longer than a cold launch from Python takes
HOLD_EACH_MS = 0.05  # more for every further launch of a burst
_PROBE_CYCLES = 2_000_000
_CPU_FLUSH_BYTES = 8 << 20


class Chain(Protocol):
    """Prepares the device for one call."""

    def run(self, pours: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> float:
        """Copy each source to its target, flush the caches, wait until the device is idle. Returns the chain's time in ms."""

    def hold(self, launches: int) -> None:
        """Keep the device busy from now on for a fixed short time, so that what the worker launches meanwhile queues up."""


class HostChain:
    """On the CPU: a copy and a pass over a buffer, timed by the host's clock."""

    def __init__(self) -> None:
        self._flush = torch.zeros(_CPU_FLUSH_BYTES // 4, dtype=torch.int32)

    def run(self, pours: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> float:
        """See Chain."""
        started = time.perf_counter_ns()
        for target, source in pours:
            target.copy_(source)
        self._flush.add_(1)
        return (time.perf_counter_ns() - started) / 1e6

    def hold(self, launches: int) -> None:
        """Nothing queues on the CPU."""


class DeviceChain:
    """On a GPU: all queued behind one event; the persisting part of the L2 is reset, and twice the L2 is read and written."""

    def __init__(self) -> None:
        from cuda.bindings import driver  # noqa: PLC0415 - only where there is a GPU

        self._driver = driver
        size = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
        self._flush = torch.zeros(FLUSH_FACTOR * size // 4, dtype=torch.int32, device="cuda")
        self._probe = torch.zeros(1, device="cuda")
        self._cycles_per_ms = _cycles_per_ms()
        self._begin = torch.cuda.Event(enable_timing=True)
        self._end = torch.cuda.Event(enable_timing=True)
        driver.cuCtxSetLimit(driver.CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0)

    def run(self, pours: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> float:
        """See Chain."""
        torch.cuda.synchronize()
        self._driver.cuCtxResetPersistingL2Cache()
        self._begin.record()
        for target, source in pours:
            target.copy_(source)
        self._flush.add_(1)
        self._probe.zero_()
        self._end.record()
        self._end.synchronize()
        return float(self._begin.elapsed_time(self._end))

    def hold(self, launches: int) -> None:
        """One spinning thread block in this context: no other context's kernels run beside it.

        The worker's wake-up and its launches happen meanwhile, so neither their cost nor its jitter is in the kernel's
        time, as in a benchmark that queues a flush before its start event. What gets past: copies and work on the host
        within this time; it is part of the witness time of both sides.
        """
        torch.cuda._sleep(int(self._cycles_per_ms * (HOLD_MS + HOLD_EACH_MS * (launches - 1))))  # noqa: SLF001 - torch's own spin kernel, which its tests use for the same end


def _cycles_per_ms() -> float:
    """Cycles of the spin kernel in a millisecond, on this card as it runs now; measured, since clocks differ."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(_PROBE_CYCLES)  # noqa: SLF001 - see `hold`
    begin.record()
    torch.cuda._sleep(_PROBE_CYCLES)  # noqa: SLF001 - see `hold`
    end.record()
    end.synchronize()
    return _PROBE_CYCLES / float(begin.elapsed_time(end))


def heat(seconds: float) -> None:
    """Keep the card busy so that its clocks settle before anything counts."""
    deadline = time.monotonic() + seconds
    square = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
    while time.monotonic() < deadline:
        for _ in range(8):
            square @ square
        torch.cuda.synchronize()
