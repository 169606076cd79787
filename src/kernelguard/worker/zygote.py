"""The fork server: imports torch and Triton once, touches no CUDA, holds no secret, and forks a keeper for every worker."""

import contextlib
import gc
import importlib
import os
import signal
import sys
import time

from kernelguard.terms.evidence import WorkerState
from kernelguard.wire import gate_messages, messages
from kernelguard.wire.framing import Channel, PeerGone, close_all, decode, encode
from kernelguard.wire.messages import (
    Fork,
    Forked,
    ZygoteReady,
)
from kernelguard.worker import keeper, probes

_FOREVER_S = 365 * 24 * 3600.0
# not torch.utils.cpp_extension: its import asks CUDA for devices, and no fork could use it then
_WISHED = ("triton", "triton.language")


def main(descriptor: int) -> None:
    """Serve fork requests from the supervisor until it goes away."""
    started = time.monotonic()
    channel = Channel.from_fd(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal group; the supervisor decides
    versions = _import_what_programs_need()
    _warm_messages()
    gc.freeze()
    channel.send(ZygoteReady(versions=versions, import_s=time.monotonic() - started))
    while True:
        try:
            order, fds = channel.receive_with_fds(Fork, timeout_s=_FOREVER_S)
        except PeerGone:
            return
        pid = os.fork()
        if pid == 0:
            channel.close()
            keeper.keep(order, fds)  # never returns
        close_all(fds)
        with contextlib.suppress(ChildProcessError):  # earlier keepers that ended; their word came on their own socket
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        channel.send(Forked(keeper_pid=pid))


def _import_what_programs_need() -> dict[str, str]:
    versions = {"python": sys.version.split()[0]}
    for name in ("torch", "numpy", *_WISHED):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue  # optional: a program that needs it will say so itself
        if "." not in name:
            versions[name] = str(getattr(module, "__version__", "unknown"))
    return versions


def _warm_messages() -> None:
    """Build the validators before the first fork: every worker inherits them. Nothing here may touch CUDA."""
    state = WorkerState(moment="zygote", flags={}, environment={}, functions=probes.functions(), python_threads=())
    decode(encode(messages.LeftGate(state=state)), (messages.LeftGate,))
    go = gate_messages.Go(sets=(), tensors=())
    done = gate_messages.Done(structures=(), outputs=(), claimed_event_ms=0.0, claimed_host_ms=0.0)
    for message in (go, done):
        decode(encode(message), (type(message),))
