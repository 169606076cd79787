"""The worker's conversation: get ready, load, answer at the gate, say what the process looks like. Catches everything once."""

import os
import time

import torch

from kernelguard.confinement.kernel import landlock
from kernelguard.gate.host_memory import HostBorrower
from kernelguard.gate.memory import Borrower
from kernelguard.gate.page import Page
from kernelguard.terms.errors import WireError
from kernelguard.terms.policy import Fp32Precision
from kernelguard.wire.framing import Channel, PeerGone
from kernelguard.wire.messages import (
    Build,
    Built,
    Confine,
    Confined,
    EnterGate,
    Finish,
    LeftGate,
    Load,
    Loaded,
    LoadFailed,
    Prepare,
    Prepared,
)
from kernelguard.worker import probes
from kernelguard.worker.invoke import Booth
from kernelguard.worker.load import Failed, import_program, load

_ORDERS = (Prepare, Confine, EnterGate, Build, Load, Finish)
_BLOCK_ELEMENTS, _BLOCKS = 6 << 20, 5
_FOREVER_S = 24 * 3600.0  # the supervisor's deadlines are the ones that count; this one only ends an orphan


def serve(control: Channel, page_fd: int) -> None:
    """Answer the supervisor until it says Finish or goes away."""
    desk = Desk(control, page_fd)
    while True:
        try:
            message, fds = control.receive_with_fds(*_ORDERS, timeout_s=_FOREVER_S)
        except PeerGone:
            return
        match message:
            case Prepare():
                control.send(desk.prepare(message, fds))
            case Confine():
                control.send(_confine(message))
            case EnterGate():
                desk.booth().serve()
                control.send(LeftGate(state=probes.look("at the gate")))
            case Build():
                control.send(_build(message))
            case Load():
                control.send(desk.load(message))
            case Finish():
                return
            case _:
                raise WireError("a message without an answer")


class Desk:
    """What a worker has set up so far."""

    def __init__(self, control: Channel, page_fd: int) -> None:
        self._control = control
        self._page_fd = page_fd
        self._slots: list[torch.Tensor] = []
        self._booth: Booth | None = None
        self._device = "cpu"

    def booth(self) -> Booth:
        """The worker's end of the gate; asked for only after Prepare."""
        if self._booth is None:
            raise RuntimeError("the gate is entered before anything is prepared")
        return self._booth

    def prepare(self, order: Prepare, fds: list[int]) -> Prepared:
        """Set flags, start the device, spin up the thread pools that every program needs, map the slots."""
        started = time.monotonic()
        self._device = order.device
        torch.set_num_threads(order.threads)
        set_fp32_precision(Fp32Precision(order.fp32_precision))
        memory = _borrower(order.device, order.gpu)
        descriptors = fds or [-1] * len(order.slot_bytes)
        handles = order.handles or ("",) * len(order.slot_bytes)
        self._slots = [
            memory.borrow(size, handle, descriptor)
            for size, handle, descriptor in zip(order.slot_bytes, handles, descriptors, strict=True)
        ]
        _warm_up(order.device)
        self._booth = Booth(Page(self._page_fd, patient=order.device == "cpu"), memory, self._slots, order.device)
        return Prepared(state=probes.look("before import"), device_s=time.monotonic() - started)

    def load(self, order: Load) -> Loaded | LoadFailed:
        """Bring the program in and let it answer at the gate."""
        try:
            model, states, import_s, construct_s = load(order, self._slots, self._device)
        except Failed as failed:
            return LoadFailed(failure=failed.failure)
        self.booth().admit(model)
        return Loaded(states=states, import_s=import_s, construct_s=construct_s)


def set_fp32_precision(choice: Fp32Precision) -> None:
    """One explicit configuration for both sides, so that neither inherits a default."""
    torch.backends.cuda.matmul.allow_tf32 = choice is Fp32Precision.TF32
    torch.backends.cudnn.allow_tf32 = choice is not Fp32Precision.IEEE
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = False


def _borrower(device: str, gpu: int) -> Borrower:
    if device == "cpu":
        return HostBorrower()
    from kernelguard.gate.cuda_memory import CudaBorrower  # noqa: PLC0415 - needs the CUDA bindings, which a CPU host lacks

    torch.cuda.set_device(gpu)
    torch.zeros(1, device="cuda")
    return CudaBorrower()


def _warm_up(device: str) -> None:
    """Start what starts threads, so that threads which appear later are the program's own."""
    square = torch.ones(512, 512, device=device)
    (square @ square).sum().item()
    if device == "cuda":
        torch.cuda.synchronize()
        return
    blocks = [torch.ones(_BLOCK_ELEMENTS) for _ in range(_BLOCKS)]  # fault the heap in, so that no call pays for it
    blocks.clear()


def _build(order: Build) -> Built | LoadFailed:
    started = time.monotonic()
    try:
        import_program(order.path, order.entry)
    except Failed as failed:
        return LoadFailed(failure=failed.failure)
    return Built(import_s=time.monotonic() - started)


def _confine(order: Confine) -> Confined:
    """Landlock, and the proof: a file that exists and may not be read must not open."""
    try:
        landlock(readable=order.readable, writable=order.writable)
    except OSError as error:
        return Confined(reached=(), missing=(f"landlock: {error.strerror or error}",))
    try:
        os.close(os.open("/proc/1/environ", os.O_RDONLY))
    except PermissionError:
        return Confined(reached=("landlock",), missing=())
    except OSError as error:
        return Confined(reached=(), missing=(f"landlock: the probe failed otherwise: {error.strerror}",))
    return Confined(reached=(), missing=("landlock: the probe opened what it must not",))
