"""The referee's conversation with the supervisor. Its own faults are the host's, never the candidate's, and are said once."""

import gc
import os
import sys

import torch

from kernelguard.gate.host_memory import HostLender
from kernelguard.gate.memory import Lender
from kernelguard.gate.page import DeadlinePassed, Page, WorkerGone
from kernelguard.referee.chain import Chain, DeviceChain, HostChain, heat
from kernelguard.referee.conduct import Conductor, SideEnded
from kernelguard.referee.cores import Cores
from kernelguard.referee.counterpart import Counterpart
from kernelguard.referee.problem import ProblemDesk
from kernelguard.terms.errors import KernelGuardError, ProblemError, WireError
from kernelguard.terms.evidence import Calibration, Side
from kernelguard.wire.framing import Channel, PeerGone, encode
from kernelguard.wire.gate_messages import (
    Go,
)
from kernelguard.wire.messages import (
    Finish,
)
from kernelguard.wire.referee_messages import (
    Attach,
    Attached,
    BlockDone,
    Calibrate,
    Calibrated,
    OpenProblem,
    ProblemOpened,
    ProblemRefused,
    RefereeFailed,
    RunBlock,
    SendBack,
    SentBack,
)
from kernelguard.wire.tree import pack

_FOREVER_S = 365 * 24 * 3600.0
_LEAVE_S = 10.0
_SKIPPED = 4  # calibration calls that still warm things up


def main(descriptor: int) -> None:
    """Serve one supervisor until it goes away."""
    channel = Channel.from_fd(descriptor)
    gc.freeze()
    try:
        Referee(channel).serve()
    except PeerGone:
        return
    except (KernelGuardError, RuntimeError, OSError, MemoryError) as error:
        channel.send(RefereeFailed(reason=f"{type(error).__name__}: {str(error)[:500]}"))


class Referee:
    """One device's referee: one problem at a time, two workers at the gate."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lender: Lender | None = None
        self._chain: Chain | None = None
        self._conductor: Conductor | None = None
        self._device = "cpu"
        self._cores = Cores()

    def serve(self) -> None:
        """Answer one message after another."""
        kinds = (OpenProblem, Attach, Calibrate, RunBlock, SendBack, Finish)
        while True:
            message, fds = self._channel.receive_with_fds(*kinds, timeout_s=_FOREVER_S)
            match message:
                case OpenProblem():
                    self._open(message)
                case Attach():
                    self._attach(message, fds)
                case Calibrate():
                    self._channel.send(self._calibrate(message))
                case RunBlock():
                    evidence = self._need().run(message.block, solo=message.solo, timeout_s=message.call_timeout_s)
                    self._channel.send(BlockDone(evidence=evidence, notes=self._need().notes))
                case SendBack():
                    self._channel.send(self._send_back(message.side))
                case Finish():
                    return
                case _:
                    raise WireError("a message without an answer")

    def _need(self) -> Conductor:
        if self._conductor is None:
            raise RuntimeError("no problem is open")
        return self._conductor

    def _open(self, order: OpenProblem) -> None:
        self._close()
        self._start_device(order)
        assert self._lender is not None and self._chain is not None  # noqa: S101, PT018 - set by _start_device
        try:
            desk = ProblemDesk(order, self._lender)
        except (ProblemError, RuntimeError, TypeError, ValueError, AttributeError) as error:
            self._channel.send(ProblemRefused(reason=str(error)[:500]))
            return
        self._conductor = Conductor(desk, self._lender, self._chain, self._cores)
        slots = desk.all_slots
        descriptors = [slot.descriptor for slot in slots if slot.descriptor >= 0]
        opened = ProblemOpened(
            slot_bytes=tuple(slot.memory.numel() for slot in slots),
            handles=tuple(slot.handle for slot in slots) if self._device == "cuda" else (),
            init_args=desk.init_structure,
            init_tensors=desk.init_specs,
            notes=tuple(desk.notes),
            versions={"torch": torch.__version__, "python": sys.version.split()[0], "device": self._device_name()},
            bytes_read=desk.input_bytes,
        )
        self._channel.send(opened, fds=descriptors)
        for descriptor in descriptors:
            os.close(descriptor)

    def _start_device(self, order: OpenProblem) -> None:
        torch.set_num_threads(order.threads)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        self._device = order.device
        self._cores.settle_self(order.device)
        if order.device == "cpu":
            self._lender, self._chain = HostLender(), HostChain()
            return
        from kernelguard.gate.cuda_memory import CudaLender  # noqa: PLC0415 - needs the CUDA bindings

        torch.cuda.set_device(order.gpu)
        torch.zeros(1, device="cuda")
        self._lender, self._chain = CudaLender(), DeviceChain()

    def _close(self) -> None:
        """Let go of the problem before: its workers have ended."""
        if self._conductor is not None and self._lender is not None:
            for peer in self._conductor.sides.values():
                self._lender.forget(peer.pid)
                peer.close()
            self._conductor = None
            self._lender.take_back()
            gc.collect()
            if self._device == "cuda":
                torch.cuda.empty_cache()

    def _device_name(self) -> str:
        return torch.cuda.get_device_name() if self._device == "cuda" else "cpu"

    def _attach(self, order: Attach, fds: list[int]) -> None:
        conductor = self._need()
        conductor.sides[order.side] = Counterpart(order.side, order.pid, Page(fds[0], patient=self._device == "cpu"))
        os.close(fds[0])
        self._channel.send(Attached())

    def _calibrate(self, order: Calibrate) -> Calibrated:
        if order.heat_s > 0 and self._device == "cuda":
            heat(order.heat_s)
        empty = encode(Go(sets=(pack([], lambda _: None),), tensors=((),)))
        try:
            calls = [self._need().noop(order.side, empty, order.call_timeout_s) for _ in range(order.calls + _SKIPPED)]
        except SideEnded as end:
            return Calibrated(calibration=None, reason=f"{end.ended.value}: {end.detail}")
        kept = calls[_SKIPPED:]
        gaps = tuple(call.witness_ms - call.claimed_event_ms for call in kept)
        return Calibrated(calibration=Calibration(gaps_ms=gaps, chains_ms=tuple(call.chain_ms for call in kept)))

    def _send_back(self, side: Side) -> SentBack:
        conductor = self._need()
        peer = conductor.sides[side]
        unstable = conductor.let_go(side) if peer.alive() else ()
        try:
            peer.dismiss(_LEAVE_S)
        except (DeadlinePassed, WorkerGone):
            return SentBack(unstable=unstable, left=False)
        return SentBack(unstable=unstable, left=True)
