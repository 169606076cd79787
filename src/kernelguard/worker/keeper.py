"""Three processes for one worker: a keeper outside, a proxy as the new namespace's first process, the worker inside.

As in isolate. The keeper alone knows how the worker ended, and nothing of the worker's outlives it.

What gets past: without a PID namespace a worker of the same user could kill its keeper; the supervisor then sees the
socket close without a word, sweeps itself, and the evaluation counts for nothing.
"""

import os
import resource
import select
import signal
import sys
import time

from kernelguard.confinement import kernel
from kernelguard.confinement.descendants import descendants, end_all, parent_of, signal_quietly
from kernelguard.terms.errors import WireError
from kernelguard.wire.framing import Channel
from kernelguard.wire.messages import (
    Finish,
    Fork,
    WorkerEnded,
    WorkerStarted,
)
from kernelguard.worker.serve import serve

_NAMESPACES = {"pid": kernel.CLONE_NEWPID, "ipc": kernel.CLONE_NEWIPC, "network": kernel.CLONE_NEWNET}
_SWEEP_S = 5.0
_FIND_S = 5.0
_POLL_MS = 200


def keep(order: Fork, fds: list[int]) -> None:
    """Become the keeper of one worker; never returns. `fds`: control, page, log, keeper's own socket."""
    try:
        control, page, log, own = fds
        os.setsid()
        _close_others(fds)
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        reached, missing = _namespaces(order)
        told, tell = os.pipe()
        proxy = os.fork()
        if proxy == 0:
            os.close(told)
            os.close(own)
            _proxy(order, (control, page, log), tell, own_proc="pid" in reached)
        for descriptor in (control, page, log, tell):
            os.close(descriptor)
        channel = Channel.from_fd(own)
        worker = _find_child(proxy)
        channel.send(WorkerStarted(worker_pid=worker, reached=tuple(reached), missing=tuple(missing)))
        status = _watch(channel, told, proxy)
        survivors = len(descendants(os.getpid()) - {proxy, worker})
        signal_quietly(proxy, signal.SIGKILL)
        end_all(os.getpid(), timeout_s=_SWEEP_S)
        channel.send(WorkerEnded(exit=status, survivors=survivors))
    except BaseException as error:  # noqa: BLE001 - a keeper has no caller; its log is the fork server's
        os.write(2, f"keeper: {type(error).__name__}: {error}\n".encode())
    finally:
        end_all(os.getpid(), timeout_s=_SWEEP_S)
        os._exit(0)


def _namespaces(order: Fork) -> tuple[list[str], list[str]]:
    """Leave what can be left. What the host refuses is reported, and the policy decides."""
    reached, missing = [], []
    for name in order.namespaces:
        try:
            kernel.unshare(_NAMESPACES[name])
            reached.append(name)
        except OSError as error:
            missing.append(f"{name}: {error.strerror or error}")
    return reached, missing


def _close_others(keep_open: list[int]) -> None:
    """A forked child keeps only its own descriptors."""
    wanted = sorted({0, 1, 2, *keep_open})
    last = -1
    for descriptor in wanted:
        if descriptor > last + 1:  # an empty range would close everything
            os.closerange(last + 1, descriptor)
        last = descriptor
    os.closerange(last + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _find_child(proxy: int) -> int:
    """The worker's process id as seen from here: the only child of the proxy."""
    deadline = time.monotonic() + _FIND_S
    while time.monotonic() < deadline:
        children = [pid for pid in descendants(proxy) if parent_of(pid) == proxy]
        if children:
            return children[0]
        time.sleep(0.001)
    raise WireError("the worker did not start")


def _watch(channel: Channel, told: int, proxy: int) -> str:
    """Wait for the worker's end, or for the supervisor's order to end it. Returns what the proxy said of the exit."""
    poller = select.poll()
    poller.register(told, select.POLLIN | select.POLLHUP)
    poller.register(channel.fileno(), select.POLLIN | select.POLLHUP)
    while True:
        ready = {descriptor for descriptor, _ in poller.poll(_POLL_MS)}
        if told in ready:
            return os.read(told, 64).decode("ascii", "replace") or "unknown"
        if channel.fileno() in ready:
            channel.receive(Finish, timeout_s=1.0)
            return "killed"
        if not parent_of(proxy):
            return "unknown"


def _proxy(order: Fork, fds: tuple[int, int, int], tell: int, *, own_proc: bool) -> None:
    """First process of the namespace: reaps orphans, passes on how the worker ended, and dies with the keeper."""
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if own_proc:
            kernel.mount_own_proc()
        worker = os.fork()
        if worker == 0:
            os.close(tell)
            _worker(order, fds)  # never returns
        for descriptor in fds:
            os.close(descriptor)
        while True:
            pid, status = os.wait()
            if pid == worker:
                os.write(tell, _exit_text(status).encode("ascii"))
                break
        while True:
            signal.pause()  # stay until the keeper has counted the survivors and ends the namespace
    finally:
        os._exit(0)


def _exit_text(status: int) -> str:
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"


def _worker(order: Fork, fds: tuple[int, int, int]) -> None:
    """Become the worker: own output, environment, directory and limits; then serve."""
    control, page, log = fds
    code = 70
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        kernel.prctl(kernel.PR_SET_TIMERSLACK, 1)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        os.close(nothing)
        os.close(log)
        os.environ.clear()
        os.environ.update(order.environment)
        os.chdir(order.workspace)
        _limit(order)
        serve(Channel.from_fd(control), page)
        code = 0
    except BaseException as error:  # noqa: BLE001 - one of the three doors that catch everything; the log says what it was
        sys.stderr.write(f"worker: {type(error).__name__}: {error}\n")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _limit(order: Fork) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (order.file_bytes, order.file_bytes))
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    if order.host_memory_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (order.host_memory_bytes, order.host_memory_bytes))
    try:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.prctl(kernel.PR_SET_PTRACER, kernel.ANY_PROCESS)  # the referee reads this process's outputs in place
    except OSError:
        return  # PR_SET_PTRACER exists only under Yama, and is needed only there
