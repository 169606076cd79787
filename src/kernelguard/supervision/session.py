"""One worker from fork to death: ask, wait under watch, kill, and know how it ended."""

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kernelguard.confinement.descendants import descendants, end_all, name_of, signal_quietly, threads_of
from kernelguard.confinement.workspace import Workspace
from kernelguard.gate.page import create_page
from kernelguard.supervision.log import LogDrain
from kernelguard.terms.errors import HostError, WireError
from kernelguard.terms.evidence import ProcessState, Side, StopCause, WorkerEnd
from kernelguard.terms.policy import Limits
from kernelguard.wire.framing import Channel, Late, PeerGone, TooLong, pair
from kernelguard.wire.messages import (
    Finish,
    Fork,
    Forked,
    WorkerEnded,
    WorkerStarted,
)

M = TypeVar("M")
_SLICE_S = 0.05
_DEATH_S = 1.0  # from a dying process's closing of its socket to its exit code: microseconds, unless the host is busy
_KILL, _CONTINUE = 9, 18


class SessionOver(Exception):
    """The worker can't go on: why, and in words."""

    def __init__(self, side: Side, cause: StopCause, detail: str) -> None:
        super().__init__(detail)
        self.side, self.cause, self.detail = side, cause, detail


@dataclass(slots=True)
class Session:
    """A living worker. `stage` is where it is, for the record of its end."""

    side: Side
    workspace: Workspace
    limits: Limits
    control: Channel
    keeper: Channel
    keeper_pid: int
    worker_pid: int
    page: int
    log: LogDrain
    reached: tuple[str, ...]
    missing: tuple[str, ...]
    gpu_memory: Callable[[], int | None]
    stage: str = "start"
    states: list[ProcessState] = field(default_factory=list)

    def check(self) -> None:
        """Raise SessionOver for a limit that was passed."""
        if self.log.flooded:
            raise SessionOver(self.side, StopCause.LOG_FLOOD, self._flood())
        count = len(descendants(self.keeper_pid))
        if count > self.limits.processes:
            raise SessionOver(self.side, StopCause.PROCESSES, f"{count} processes; the limit is {self.limits.processes}")
        used = self.gpu_memory() if self.limits.gpu_memory_bytes else None
        if used is not None and used > self.limits.gpu_memory_bytes:
            raise SessionOver(
                self.side, StopCause.GPU_MEMORY, f"{used} bytes of device memory; the limit is {self.limits.gpu_memory_bytes}"
            )

    def ask(self, message: object, *expected: type[M], timeout_s: float, fds: Sequence[int] = ()) -> M:
        """Send and wait for the answer under watch. Raises SessionOver; the worker is then only good for `end`."""
        try:
            self.control.send(message, fds=fds)
        except WireError as error:
            raise SessionOver(self.side, StopCause.DIED, f"the process ended ({self.stage})") from error
        return self.wait(*expected, timeout_s=timeout_s)

    def wait(self, *expected: type[M], timeout_s: float) -> M:
        """Wait for a message under watch. Raises SessionOver."""
        try:
            wait_readable(self.control, timeout_s, (self,))
            return self.control.receive(*expected, timeout_s=timeout_s)
        except TooLong as error:
            raise SessionOver(self.side, StopCause.REPLY_TOO_LONG, str(error)) from error
        except Late as error:
            raise SessionOver(self.side, StopCause.TIMEOUT, f"no answer within {timeout_s:.1f} s ({self.stage})") from error
        except PeerGone as error:
            raise SessionOver(self.side, StopCause.DIED, f"the process ended ({self.stage})") from error
        except WireError as error:
            raise SessionOver(self.side, StopCause.PROTOCOL, str(error)) from error

    def look(self, moment: str) -> None:
        """Remember threads and children as seen from outside."""
        children = descendants(self.worker_pid)
        names = tuple(sorted(f"{name_of(pid)}" for pid in children))
        self.states.append(ProcessState(moment=moment, pid=self.worker_pid, threads=threads_of(self.worker_pid), children=names))

    def stray_bytes(self) -> bool:
        """True when the worker sent something that nobody asked for."""
        poller = select.poll()
        poller.register(self.control.fileno(), select.POLLIN)
        if not poller.poll(0):
            return False
        with socket.socket(fileno=os.dup(self.control.fileno())) as peer:
            try:
                return bool(peer.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
            except OSError:
                return False  # the other end was reset: there is nothing to read

    def end(self, cause: StopCause, detail: str = "") -> WorkerEnd:
        """Kill the worker and everything that came from it; returns how it ended. Raises HostError if something survives."""
        end_word = self._end_word(cause)
        survivors = end_word.survivors
        left = descendants(self.keeper_pid)
        if left or end_word.exit == "unknown":
            survivors += end_all(self.keeper_pid, timeout_s=self.limits.kill_timeout_s)
            signal_quietly(self.keeper_pid, _KILL)
        if descendants(self.keeper_pid):
            raise HostError("a candidate's processes could not be ended; this device is not used any more")
        log = self.log.text()
        if cause is StopCause.FINISHED:
            cause, detail = self._unnoticed(detail)
        self.control.close()
        self.keeper.close()
        os.close(self.page)
        return WorkerEnd(
            side=self.side,
            cause=cause,
            stage=self.stage,
            exit=end_word.exit,
            detail=detail,
            log=log,
            survivors=survivors,
        )

    def _unnoticed(self, detail: str) -> tuple[StopCause, str]:
        """What was done between two looks counts too: a forged answer that was taken for the real one leaves that one over."""
        if self.log.flooded:
            return StopCause.LOG_FLOOD, self._flood()
        if self.stray_bytes():
            return StopCause.PROTOCOL, "the worker's socket carries bytes that nobody asked for"
        return StopCause.FINISHED, detail

    def _flood(self) -> str:
        return f"more than {self.limits.log_bytes} bytes of output"

    def _end_word(self, cause: StopCause) -> WorkerEnded:
        """The keeper's word. A worker that died by itself is given the time to be found dead, for its exit code says how."""
        signal_quietly(self.worker_pid, _CONTINUE)
        try:
            if cause is StopCause.DIED:
                with contextlib.suppress(Late):  # it closed its socket and lives on
                    return self.keeper.receive(WorkerEnded, timeout_s=_DEATH_S)
            with contextlib.suppress(PeerGone):  # the keeper's last word may still be in the socket
                self.keeper.send(Finish(), timeout_s=1.0)
            return self.keeper.receive(WorkerEnded, timeout_s=self.limits.kill_timeout_s)
        except WireError:
            return WorkerEnded(exit="unknown", survivors=0)


def wait_readable(channel: Channel, timeout_s: float, watched: Sequence[Session]) -> None:
    """Return when `channel` has something to read. Raises Late at the deadline, SessionOver when a watched limit is passed."""
    deadline = time.monotonic() + timeout_s
    poller = select.poll()
    poller.register(channel.fileno(), select.POLLIN)
    while not poller.poll(_SLICE_S * 1000):
        if time.monotonic() > deadline:
            raise Late("no answer before the deadline")
        for session in watched:
            session.check()


def fork_worker(
    zygote: Channel, order: Fork, workspace: Workspace, limits: Limits, gpu_memory: Callable[[], int | None]
) -> Session:
    """Have the fork server make a worker. Raises HostError when it can't."""
    control, control_theirs = pair()
    keeper, keeper_theirs = pair()
    page = create_page()
    log = LogDrain(limits.log_bytes)
    keeper_channel = Channel(keeper)
    try:
        zygote.send(order, fds=(control_theirs.fileno(), page, log.write_end, keeper_theirs.fileno()))
        forked = zygote.receive(Forked, timeout_s=limits.start_timeout_s)
        for end in (control_theirs, keeper_theirs):
            end.close()
        started = keeper_channel.receive(WorkerStarted, timeout_s=limits.start_timeout_s)
    except WireError as error:
        for end in (control, control_theirs, keeper, keeper_theirs):
            end.close()
        os.close(page)
        raise HostError(f"a worker did not start: {error}") from error
    finally:
        log.close_write_end()
    return Session(
        side=order.side, workspace=workspace, limits=limits, control=Channel(control, limit_bytes=limits.reply_bytes),
        keeper=keeper_channel, keeper_pid=forked.keeper_pid, worker_pid=started.worker_pid, page=page, log=log,
        reached=started.reached, missing=started.missing, gpu_memory=gpu_memory,
    )  # fmt: skip
