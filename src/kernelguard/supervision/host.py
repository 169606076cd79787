"""This host, opened for evaluations on one device: fork server and referee stay warm from one candidate to the next."""

import os
import secrets
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TypeVar, cast

from kernelguard.confinement.places import readable_places
from kernelguard.confinement.workspace import Workspace, remove_orphans, remove_tree
from kernelguard.supervision.card import Card, find_card, memory_used
from kernelguard.supervision.session import Session, fork_worker, wait_readable
from kernelguard.supervision.spawn import Trusted, start
from kernelguard.terms.errors import HostError, WireError
from kernelguard.terms.evidence import Side
from kernelguard.terms.findings import Capability, CapabilityStatus
from kernelguard.terms.policy import Isolation, Limits, Policy
from kernelguard.wire.messages import (
    Fork,
    ZygoteReady,
)
from kernelguard.wire.referee_messages import (
    RefereeFailed,
)

M = TypeVar("M")
_END_S = 5.0
_PREFIX = "kernelguard-"
_REFEREE_ALLOCATOR = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "PYTORCH_ALLOC_CONF": "expandable_segments:True"}
# glibc would hand large blocks back to the kernel and fault them in again, at a cost that differs from process to process
_STEADY_MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    "MALLOC_TOP_PAD_": str(64 << 20),
}


class Host:
    """One device of this machine. Use as a context manager; safe to keep for many evaluations, one at a time."""

    def __init__(self, *, device: str = "cuda", gpu: int = 0, keep_files: bool = False) -> None:
        self.device = device
        self.gpu = gpu
        self.card: Card | None = find_card(gpu) if device == "cuda" else None
        remove_orphans(_PREFIX)
        self.root = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self.namespaces: tuple[str, ...] = ("pid", "ipc", "network")
        self._keep_files = keep_files
        self._zygote: Trusted | None = None
        self._referee: Trusted | None = None
        self._owed = False  # the referee was asked and its answer not read: what it says next answers nothing else
        self.versions: Mapping[str, str] = {}

    def __enter__(self) -> "Host":  # noqa: PYI034 - typing.Self needs Python 3.11
        """Nothing is started before it is needed."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End every process and delete every file of this host."""
        self.close()

    @property
    def device_id(self) -> str:
        """What the lease is on."""
        return self.card.uuid if self.card else f"{self.device}-{self.gpu}"

    def lacks(self) -> tuple[Capability, ...]:
        """What this host would need before anything can be evaluated here; empty when nothing is missing."""
        if self.device == "cpu" or self.card is not None:
            return ()
        return (
            Capability(
                name="cuda_runtime",
                status=CapabilityStatus.UNSUPPORTED,
                required=True,
                detail="A configured CUDA device is required for local GPU verification",
            ),
        )

    def fresh_seed(self) -> str:
        """64 hex digits of the OS's randomness."""
        return secrets.token_hex(32)

    def warm(self) -> None:
        """Start fork server and referee side by side; those that ended from outside are replaced. Raises HostError."""
        if self._zygote is not None and self._zygote.process.poll() is not None:
            self._drop_zygote()
        if self._referee is not None and (self._owed or self._referee.process.poll() is not None):
            self.drop_referee()
        if self._zygote is None:
            self._zygote = start("kernelguard.worker.zygote", log=self.root / "zygote.log", extra_environment=_STEADY_MALLOC)
        if self._referee is None:
            self._referee = start(
                "kernelguard.referee.serve",
                log=self.root / "referee.log",
                extra_environment={**self._visible(), **_REFEREE_ALLOCATOR},
            )
        if not self.versions:
            try:
                self.versions = self._zygote.channel.receive(ZygoteReady, timeout_s=Limits().start_timeout_s * 2).versions
            except WireError as error:
                words = self._zygote.last_words()
                self._drop_zygote()
                raise HostError(f"the fork server did not start: {words or error}") from error

    def fork(self, side: Side, workspace: Workspace, policy: Policy, *, sees_gpu: bool = True) -> Session:
        """A new worker. Raises HostError; the fork server is then replaced before the next one."""
        if self._zygote is None:
            self.warm()
        assert self._zygote is not None  # noqa: S101 - warm() started it
        order = Fork(
            side=side,
            workspace=str(workspace.root),
            environment=workspace.environment(os.environ)
            | self._arch()
            | (self._visible() if sees_gpu else {"CUDA_VISIBLE_DEVICES": ""}),
            host_memory_bytes=policy.limits.host_memory_bytes,
            file_bytes=policy.limits.file_bytes,
            namespaces=self.namespaces,
        )
        try:
            return fork_worker(self._zygote.channel, order, workspace, policy.limits, self._memory_used)
        except HostError:
            self._drop_zygote()
            raise

    def ask(
        self, message: object, *expected: type[M], timeout_s: float, watched: tuple[Session, ...] = (), fds: tuple[int, ...] = ()
    ) -> M:
        """Ask the referee, with the workers under watch meanwhile. Raises HostError for the referee's own faults."""
        return self.ask_with_fds(message, *expected, timeout_s=timeout_s, watched=watched, fds=fds)[0]

    def ask_with_fds(
        self, message: object, *expected: type[M], timeout_s: float, watched: tuple[Session, ...] = (), fds: tuple[int, ...] = ()
    ) -> tuple[M, list[int]]:
        """As `ask`, with the descriptors that came along."""
        if self._referee is None:
            self.warm()
        assert self._referee is not None  # noqa: S101 - warm() started it
        self._owed = True
        try:
            self._referee.channel.send(message, fds=fds)
        except WireError as error:
            raise self._no_answer(error) from error
        return self._receive(*expected, timeout_s=timeout_s, watched=watched)

    def answer(self, *expected: type[M], timeout_s: float) -> M:
        """The answer to a question whose waiting was broken off by a worker's end. Raises HostError."""
        return self._receive(*expected, timeout_s=timeout_s, watched=())[0]

    def _receive(self, *expected: type[M], timeout_s: float, watched: tuple[Session, ...]) -> tuple[M, list[int]]:
        if self._referee is None:
            raise HostError("there is no referee to answer")
        channel = self._referee.channel
        try:
            wait_readable(channel, timeout_s, watched)
            answer, received = channel.receive_with_fds(*expected, RefereeFailed, timeout_s=timeout_s)
        except WireError as error:
            raise self._no_answer(error) from error
        self._owed = False
        if isinstance(answer, RefereeFailed):
            self.drop_referee()
            raise HostError(f"the referee failed: {answer.reason}")
        return cast("M", answer), received

    def _no_answer(self, error: WireError) -> HostError:
        words = self._referee.last_words() if self._referee else ""
        self.drop_referee()
        return HostError(f"the referee does not answer: {error}. {words}")

    def drop_referee(self) -> None:
        """End the referee; the next question starts a new one. `warm` does so after an answer that was not waited for."""
        if self._referee is not None:
            self._referee.process.kill()
            self._referee.end(_END_S)
            self._referee = None
        self._owed = False

    def _drop_zygote(self) -> None:
        if self._zygote is not None:
            self._zygote.process.kill()
            self._zygote.end(_END_S)
            self._zygote = None
        self.versions = {}

    def readable(self) -> tuple[str, ...]:
        """What a confined worker may read: the system's libraries, Python and its packages, and none of the problems."""
        return readable_places(Path(__file__).resolve().parents[1], sys.path)

    def writable(self, workspace: Workspace) -> tuple[str, ...]:
        """What a confined worker may write: its workspace and the device files that every program needs."""
        devices = [str(path) for path in Path("/dev").glob("nvidia*")] + ["/dev/dri", "/dev/nvidia-caps"]
        return (str(workspace.root), "/proc/self", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", *devices)

    def close(self) -> None:
        """End the processes; delete the files unless they are to be kept."""
        for trusted in (self._referee, self._zygote):
            if trusted is not None:
                trusted.end(_END_S)
        self._referee = self._zygote = None
        if not self._keep_files:
            remove_tree(self.root)

    def now_s(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def _visible(self) -> dict[str, str]:
        return {"CUDA_VISIBLE_DEVICES": self.card.uuid if self.card else str(self.gpu)} if self.device == "cuda" else {}

    def _arch(self) -> dict[str, str]:
        return {"TORCH_CUDA_ARCH_LIST": self.card.arch} if self.card else {}

    def _memory_used(self) -> int | None:
        return memory_used(self.gpu) if self.card else None


def isolation_of(reached: set[str]) -> Isolation:
    """The level that the proved features make up."""
    namespaces = {"pid", "ipc", "network"} <= reached
    if "landlock" in reached and namespaces:
        return Isolation.NAMESPACES
    return Isolation.LANDLOCK if "landlock" in reached else Isolation.PROCESS
