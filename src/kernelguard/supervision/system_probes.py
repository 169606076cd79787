"""What the operating system lets us hold and read, each proved by doing it. Runs in a process of its own: `main`.

A probe confines itself for good, so each runs in a fork of that process, which has a single thread and nothing to lose.
"""

import ctypes
import os
import select
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kernelguard.confinement import kernel
from kernelguard.confinement.descendants import children_of
from kernelguard.gate.page import create_page
from kernelguard.supervision.lease import lease
from kernelguard.terms.errors import HostError
from kernelguard.wire.framing import Channel

_PROBE_S = 5.0
_SAID_BYTES = 400
_SECRET = 0x5EC2E7
_CGROUPS = Path("/sys/fs/cgroup")
_CLONE_NEWUSER = 0x10000000


class NotHeld(Exception):
    """The probe's answer is no, and why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One answer: whether it held, and in words what was tried or what is missing."""

    name: str
    held: bool
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Probes:
    """All answers."""

    answers: tuple[Probe, ...]


def main(descriptor: int) -> None:
    """Send one `Probes` and end."""
    Channel.from_fd(descriptor).send(Probes(answers=tuple(in_fork(name, probe) for name, probe in PROBES.items())))


def in_fork(name: str, probe: Callable[[], str]) -> Probe:
    """Run one probe in a fork. Its detail if it returns; not held if it raises NotHeld or OSError, dies, or takes too long."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read_end)
            os.write(write_end, _say(probe).encode()[:_SAID_BYTES])
        finally:
            os._exit(0)
    os.close(write_end)
    answered, _, _ = select.select([read_end], [], [], _PROBE_S)
    said = os.read(read_end, _SAID_BYTES).decode(errors="replace") if answered else f"-no answer within {_PROBE_S:g} s"
    os.close(read_end)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return Probe(name=name, held=said.startswith("+"), detail=said[1:] or "the probe died")


def _say(probe: Callable[[], str]) -> str:
    try:
        return "+" + probe()
    except OSError as error:
        return "-" + (error.strerror or str(error))
    except (NotHeld, HostError) as error:
        return f"-{error}"


def _sealed_memory() -> str:
    page = create_page()
    try:
        os.ftruncate(page, 1)
    except PermissionError:
        return "a sealed page refused to shrink"
    raise NotHeld("a sealed page could be shrunk")


def _device_lease() -> str:
    with lease("no-device", timeout_s=_PROBE_S / 2):  # another examination may hold it for a moment
        return f"a lock was taken in {tempfile.gettempdir()}"


def _process_tree() -> str:
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    seen = children_of(os.getpid())
    os.kill(child, signal.SIGKILL)
    if child not in seen:
        raise NotHeld("/proc does not list a process's children (CONFIG_PROC_CHILDREN): what outlives a candidate is not found")
    return "/proc lists a process's children"


def _landlock() -> str:
    """Inside one folder everything, elsewhere nothing."""
    abi = kernel.landlock_abi()
    if abi < 1:
        raise NotHeld("this kernel has no Landlock, or it was not enabled at boot")
    with tempfile.TemporaryDirectory(prefix="kernelguard-probe-") as folder:
        forbidden, allowed = Path(folder, "forbidden"), Path(folder, "allowed")
        forbidden.write_text("x", encoding="ascii")
        allowed.mkdir()
        confined = in_fork("landlock", partial(_confine_to, allowed, forbidden))
    if not confined.held:
        raise NotHeld(f"ABI {abi}, but {confined.detail}")
    return f"ABI {abi}; a forbidden file was refused" + ("" if abi >= 6 else "; signals and sockets are confined from ABI 6 on")


def _confine_to(allowed: Path, forbidden: Path) -> str:
    kernel.landlock(readable=(), writable=(str(allowed),))
    (allowed / "written").write_text("x", encoding="ascii")
    try:
        forbidden.read_text(encoding="ascii")
    except PermissionError:
        return "refused"
    raise NotHeld("a forbidden file could be read")


def _leave(flag: int) -> str:
    kernel.unshare(flag)
    return "left"


def _own_proc() -> str:
    """The first process of a new PID namespace must see itself alone."""
    kernel.unshare(kernel.CLONE_NEWPID)
    inside = in_fork("own_proc", _sees_itself_alone)
    if not inside.held:
        raise NotHeld(inside.detail)
    return "a confined process sees its own processes alone"


def _sees_itself_alone() -> str:
    kernel.mount_own_proc()
    seen = sorted(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    if seen != [1]:
        raise NotHeld(f"{len(seen)} processes are visible inside a new PID namespace")
    return "alone"


def _read_in_place() -> str:
    """A sibling's memory, as the referee reads a worker's: the sibling first permits it, as workers do."""
    word = ctypes.c_uint64(0)
    told, tell = os.pipe()
    sibling = os.fork()
    if sibling == 0:
        word.value = _SECRET
        try:
            kernel.prctl(kernel.PR_SET_PTRACER, kernel.ANY_PROCESS)
        except OSError:
            os.write(tell, b"-")  # PR_SET_PTRACER exists only under Yama, and is needed only there
        else:
            os.write(tell, b"+")
        signal.pause()
        os._exit(0)
    os.read(told, 1)
    reading = in_fork("read_in_place", partial(_read_from, sibling, ctypes.addressof(word)))
    os.kill(sibling, signal.SIGKILL)
    if not reading.held:
        raise NotHeld(f"process_vm_readv: {reading.detail}")
    return "another process's memory was read by process_vm_readv"


def _read_from(pid: int, address: int) -> str:
    class Range(ctypes.Structure):
        """One iovec."""

        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]  # type: ignore[mutable-override]  # ctypes' own form

    libc = ctypes.CDLL(None, use_errno=True)
    found = ctypes.c_uint64(0)
    here, there = Range(ctypes.addressof(found), 8), Range(address, 8)
    if libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) != 8:
        raise NotHeld(os.strerror(ctypes.get_errno()))
    if found.value != _SECRET:
        raise NotHeld("it read something else")
    return "read"


def _cgroup_memory() -> str:
    """A child group of our own must be makeable."""
    if not (_CGROUPS / "cgroup.controllers").exists():
        raise NotHeld("no cgroup v2 here; memory is bounded by rlimits alone")
    own = Path("/proc/self/cgroup").read_text(encoding="utf-8").strip().rpartition("::")[2].lstrip("/")
    group = _CGROUPS / own / f"kernelguard-probe-{time.monotonic_ns()}"
    try:
        group.mkdir()
    except OSError as error:
        raise NotHeld(f"no cgroup may be made ({error.strerror}); memory is bounded by rlimits alone") from error
    group.rmdir()
    return "a cgroup of our own can be made; evaluations bound memory by rlimits so far"


PROBES: dict[str, Callable[[], str]] = {
    "sealed_memory": _sealed_memory,
    "device_lease": _device_lease,
    "process_tree": _process_tree,
    "read_in_place": _read_in_place,
    "landlock": _landlock,
    "pid": partial(_leave, kernel.CLONE_NEWPID),
    "ipc": partial(_leave, kernel.CLONE_NEWIPC),
    "network": partial(_leave, kernel.CLONE_NEWNET),
    "user": partial(_leave, _CLONE_NEWUSER),
    "own_proc": _own_proc,
    "cgroup_memory": _cgroup_memory,
}
