"""What was seen, with no opinion about it. Times in ms; a name that starts with `claimed_` was said by a worker."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kernelguard.terms.plan import DrawKind


class Side(enum.Enum):
    """Which of the two programs behind the gate."""

    REFERENCE = "reference"
    CANDIDATE = "candidate"


@dataclass(frozen=True, kw_only=True, slots=True)
class SideCall:
    """One side's half of one call, as the referee saw it.

    `witness_ms`: GO until the snapshot was complete. `done_ms`: GO until DONE. `chain_ms`: pour, poison and flush as one
    queued chain before GO. `new_segment`: output memory that the referee had to map first, so the witness time is too long.
    `claimed_event_ms` covers all input sets of a burst; a claim that is not a finite number stands as -1.
    """

    witness_ms: float
    done_ms: float
    chain_ms: float
    claimed_event_ms: float
    claimed_host_ms: float
    new_segment: bool = False


class Fault(enum.Enum):
    """Why an output could not be accepted before its values were compared."""

    STRUCTURE = "structure"  # other nesting or number of outputs
    DTYPE = "dtype"
    SHAPE = "shape"
    LAYOUT = "layout"  # overlapping or out of range
    NOT_PLAIN = "not_plain"  # subclass, instance attributes, grad, neg or conj bit
    DEVICE = "device"
    ALIAS = "alias"  # shares memory with an input, a weight or an output that is still alive
    UNREADABLE = "unreadable"  # no such memory: bad handle or range
    RAISED = "raised"  # forward raised


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """The output was not a plain tensor of the right form."""

    fault: Fault
    detail: str
    kind: Literal["refused"] = "refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """How candidate and reference differ in one call; the worst over all outputs.

    `native_ok`: every element within atol + rtol * |expected|, upstream's rule. `rows_ok`: no row is wrong on its own.
    `worst_margin` is the largest |difference| / (atol + rtol * |expected|), so that 1.0 is the border; None when not finite.
    `worst_row` is the largest relative norm of a row's difference over the row tolerance. `first_*` name the first bad element.
    `oracle_row` and `reference_oracle_row`: largest relative error of a row against fp64, of candidate and reference.
    `replays`: the output equals the reference's answer to an earlier call while it is wrong for this one.
    """

    native_ok: bool
    rows_ok: bool
    worst_margin: float | None
    worst_row: float | None
    relative_error: float | None
    bad_elements: int = 0
    elements: int = 0
    first_output: int = 0
    first_index: tuple[int, ...] = ()
    first_expected: str = ""
    first_actual: str = ""
    replays: bool = False
    oracle_row: float | None = None
    reference_oracle_row: float | None = None
    kind: Literal["compared"] = "compared"


class Ended(enum.Enum):
    """How a block of calls ended."""

    COMPLETE = "complete"
    DEAD = "dead"  # the process is gone
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"  # a DONE that could not be understood


@dataclass(frozen=True, kw_only=True, slots=True)
class CallEvidence:
    """Everything the referee saw of one call. `void`: the reference itself is no measure here (NaN, or fp64 disagrees)."""

    index: int
    kind: DrawKind
    variant: int
    scored: bool
    width: int
    candidate_first: bool
    reference: SideCall | None
    candidate: SideCall | None
    outcome: Refused | Compared | None = field(default=None)
    void: str = ""
    inputs_changed: tuple[int, ...] = ()  # inputs that the candidate changed and the reference did not
    unstable_outputs: tuple[int, ...] = ()  # outputs of the call before that differed on the second look


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockEvidence:
    """The calls of one block. `ended` and `ended_side` say what cut it short; `started_s` counts from the first block."""

    calls: tuple[CallEvidence, ...]
    ended: Ended = Ended.COMPLETE
    ended_side: Side | None = None
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """No-op calls through the gate before any program was loaded: what the hand-over itself costs, in ms.

    `gaps_ms` are witness less claimed times, `chains_ms` the times of the referee's own chain.
    """

    gaps_ms: tuple[float, ...]
    chains_ms: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerState:
    """What trusted code inside a worker's process read about it; all of it a claim once the program was imported.

    `functions` maps the name of a timing or checking function to a digest of what it is now.
    """

    moment: str
    flags: Mapping[str, str]
    environment: Mapping[str, str]
    functions: Mapping[str, str]
    python_threads: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessState:
    """What the supervisor read about a worker from outside: tasks by name, and descendants."""

    moment: str
    pid: int
    threads: Mapping[str, int]
    children: tuple[str, ...]


class StopCause(enum.Enum):
    """Why the supervisor ended a worker."""

    FINISHED = "finished"
    DIED = "died"
    TIMEOUT = "timeout"
    LOG_FLOOD = "log_flood"
    REPLY_TOO_LONG = "reply_too_long"
    PROCESSES = "processes"
    GPU_MEMORY = "gpu_memory"
    PROTOCOL = "protocol"


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerEnd:
    """How one worker's life ended. `exit` is like `exit 0` or `signal 11`; `stage` is where it was."""

    side: Side
    cause: StopCause
    stage: str
    exit: str
    detail: str = ""
    log: str = ""
    survivors: int = 0  # processes that were still there after the worker itself was gone, all killed
    leaked_files: tuple[str, ...] = ()  # written outside the workspace's own caches


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadFailure:
    """The program did not become a module: where (`build`, `import`, `construct`, `move`), what was raised, its text."""

    stage: str
    error: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Everything seen in one evaluation."""

    calibration: Mapping[Side, Calibration] = field(default_factory=dict)
    solo: BlockEvidence | None = None
    blocks: tuple[BlockEvidence, ...] = ()
    planned_calls: int = 0
    states: Mapping[Side, tuple[WorkerState, ...]] = field(default_factory=dict)
    processes: Mapping[Side, tuple[ProcessState, ...]] = field(default_factory=dict)
    ends: tuple[WorkerEnd, ...] = ()
    load_failure: LoadFailure | None = None
    cpu_clock: bool = False  # host clocks: the bounds are wider
    stages_s: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def calls(self) -> tuple[CallEvidence, ...]:
        """All calls of all blocks, without the solo block."""
        return tuple(call for block in self.blocks for call in block.calls)
