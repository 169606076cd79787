"""The two workers of a sitting, from fork to death. Nothing here looks at an answer."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

from kernelguard.confinement.workspace import Workspace, create_workspace
from kernelguard.supervision.card import clocks
from kernelguard.supervision.host import Host
from kernelguard.supervision.session import Session, SessionOver
from kernelguard.terms.errors import HostError, UsageError
from kernelguard.terms.evidence import (
    Calibration,
    LoadFailure,
    ProcessState,
    Side,
    StopCause,
    WorkerEnd,
    WorkerState,
)
from kernelguard.terms.plan import Plan, draw_plan
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.wire.messages import (
    Build,
    Built,
    Confine,
    Confined,
    EnterGate,
    LeftGate,
    Load,
    Loaded,
    LoadFailed,
    Prepare,
    Prepared,
)
from kernelguard.wire.referee_messages import (
    Attach,
    Attached,
    Calibrate,
    Calibrated,
    ProblemOpened,
    SendBack,
    SentBack,
)

CALIBRATION_CALLS = 48
_DTYPE = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
_ENTRY = {Side.REFERENCE: "Model"}


class Workers:
    """Forks, prepares, calibrates, confines, loads, looks at and ends them, and keeps what was seen of them."""

    def __init__(self, problem: Problem, candidate: Candidate, policy: Policy, host: Host) -> None:
        self.problem, self.candidate, self.policy, self.host = problem, candidate, policy, host
        self.folder = Path(tempfile.mkdtemp(prefix="sitting-", dir=host.root))
        self._spaces: dict[Side, Workspace] = {
            Side.REFERENCE: create_workspace(self.folder, "one", problem.source),
            Side.CANDIDATE: create_workspace(self.folder, "two", candidate.source),
        }
        self.threads = max(1, (os.cpu_count() or 2) - 1) if policy.device == "cpu" else max(1, (os.cpu_count() or 2) // 2)
        self.plan: Plan = draw_plan(policy, "0" * 64)  # replaced once the candidate is committed
        self.opened: ProblemOpened | None = None
        self.slot_fds: list[int] = []
        self.built = False
        self.load_failure: LoadFailure | None = None
        self.notes: list[str] = []
        self.stages_s: dict[str, float] = {}
        self._sessions: dict[Side, Session] = {}
        self._calibration: dict[Side, Calibration] = {}
        self._states: dict[Side, list[WorkerState]] = {side: [] for side in Side}
        self._processes: dict[Side, list[ProcessState]] = {side: [] for side in Side}
        self._ends: list[WorkerEnd] = []
        self._reached: set[str] = set()
        self._missing: set[str] = set()
        self._clocks: list[dict[str, int]] = []
        self._deadline = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the seconds of a part of the sitting."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.stages_s[name] = self.stages_s.get(name, 0.0) + time.monotonic() - started

    def build(self) -> Built | LoadFailed:
        """Import the candidate in a worker that sees no GPU. Raises SessionOver."""
        session = self._fork(Side.CANDIDATE, sees_gpu=False)
        self._confine(session)
        session.stage = "build"
        order = Build(path=str(session.workspace.program), entry=self.candidate.entry)
        reply = session.ask(order, Built, LoadFailed, timeout_s=self.policy.limits.build_timeout_s)
        return cast("Built | LoadFailed", reply)

    def start(self, side: Side, *, heat_s: float) -> None:
        """Fork, prepare, calibrate by no-op calls, and confine; nothing of the program has run. Raises SessionOver."""
        opened = self._opened()
        session = self._fork(side, sees_gpu=True)
        prepare = Prepare(
            device=self.policy.device,
            gpu=0,
            fp32_precision=self.policy.fp32_precision.value,
            slot_bytes=opened.slot_bytes,
            handles=opened.handles,
            threads=self.threads,
        )
        limit = self.policy.limits.start_timeout_s
        self._states[side].append(session.ask(prepare, Prepared, timeout_s=limit, fds=self.slot_fds).state)
        self.host.ask(Attach(side=side, pid=session.worker_pid), Attached, timeout_s=limit, fds=(session.page,))
        self._calibrate(session, heat_s)
        self._confine(session)
        session.look("before import")

    def load(self, side: Side, *, timeout_s: float) -> bool:
        """Import and construct the program; False, with the failure kept, when that raises. Raises SessionOver."""
        session, opened = self._sessions[side], self._opened()
        session.stage = "load"
        if side is Side.CANDIDATE:
            self._deadline = time.monotonic() + timeout_s
            self._note_clocks()
        order = Load(
            path=str(session.workspace.program),
            entry=_ENTRY.get(side, self.candidate.entry),
            init_args=opened.init_args,
            init_tensors=opened.init_tensors,
            weight_seed=self.plan.weight_seed,
            dtype=_DTYPE[self.policy.precision.value],
        )
        reply = cast("Loaded | LoadFailed", session.ask(order, Loaded, LoadFailed, timeout_s=timeout_s))
        if isinstance(reply, LoadFailed):
            self.load_failure = reply.failure
            return False
        self._states[side].extend(reply.states)
        session.look("after construction")
        session.stage = "calls"
        session.control.send(EnterGate())
        return True

    def look_inside(self, moment: str) -> None:
        """Fetch both workers from the gate, see what their processes look like, and send them back."""
        for side, session in self._sessions.items():
            self._states[side].append(replace(self._fetch(session), moment=moment))
            session.look(moment)
            if session.stray_bytes():
                raise SessionOver(side, StopCause.PROTOCOL, "the worker's socket carries bytes that nobody asked for")
            session.control.send(EnterGate())
        if moment == "end":
            self._note_clocks()

    def end(self, side: Side, cause: StopCause, detail: str = "") -> None:
        """End a worker if it still lives, and remember how it went."""
        session = self._sessions.pop(side, None)
        if session is not None:
            self._ends.append(session.end(cause, detail))
            self._processes[side].extend(session.states)

    def log_of(self, side: Side) -> str:
        """The end of what a worker that has ended wrote."""
        return next((end.log[-600:].strip() for end in reversed(self._ends) if end.side is side), "")

    def take_failure(self) -> str:
        """One line of why a program did not load."""
        failure, self.load_failure = self.load_failure, None
        return f"{failure.stage}: {failure.error}" if failure else "unknown"

    def watched(self) -> tuple[Session, ...]:
        """The workers that are alive."""
        return tuple(self._sessions.values())

    def _fork(self, side: Side, *, sees_gpu: bool) -> Session:
        session = self.host.fork(side, self._spaces[side], self.policy, sees_gpu=sees_gpu)
        self._sessions[side] = session
        if side is Side.CANDIDATE:
            self._reached |= set(session.reached)
            self._missing |= set(session.missing)
        return session

    def _calibrate(self, session: Session, heat_s: float) -> None:
        limits = self.policy.limits
        session.control.send(EnterGate())
        order = Calibrate(side=session.side, calls=CALIBRATION_CALLS, heat_s=heat_s, call_timeout_s=limits.call_timeout_s)
        reply = self.host.ask(order, Calibrated, timeout_s=limits.start_timeout_s + heat_s, watched=self.watched())
        if reply.calibration is None:
            raise HostError(f"calibration of the {session.side.value} worker failed: {reply.reason}")
        self._calibration[session.side] = reply.calibration
        self._fetch(session)

    def _fetch(self, session: Session) -> WorkerState:
        """Bring a worker from the gate to its control socket."""
        limit = self.policy.limits.call_timeout_s
        back = self.host.ask(SendBack(side=session.side), SentBack, timeout_s=limit, watched=self.watched())
        if back.unstable:
            self.notes.append(f"unstable:{session.side.value}")
        if not back.left:
            raise SessionOver(session.side, StopCause.DIED, "the process did not come back from the gate")
        return session.wait(LeftGate, timeout_s=limit).state

    def _confine(self, session: Session) -> None:
        order = Confine(readable=self.host.readable(), writable=self.host.writable(session.workspace))
        reply = session.ask(order, Confined, timeout_s=self.policy.limits.start_timeout_s)
        if session.side is Side.CANDIDATE:
            self._reached |= set(reply.reached)
            self._missing |= set(reply.missing)

    def _opened(self) -> ProblemOpened:
        if self.opened is None:
            raise UsageError("a worker was started before the problem was opened")
        return self.opened

    def _note_clocks(self) -> None:
        if self.host.card is not None:
            self._clocks.append(clocks(self.host.card.index))
