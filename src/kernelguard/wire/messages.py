"""Every message that may cross between our processes. None of them is a verdict, a score or a word about correctness."""

from collections.abc import Mapping
from dataclasses import dataclass

from kernelguard.terms.evidence import BlockEvidence, Calibration, LoadFailure, Side, WorkerState
from kernelguard.terms.plan import Block

# ---------------------------------------------------------------------------------------------- places of tensors


@dataclass(frozen=True, kw_only=True, slots=True)
class InputSpec:
    """A tensor that the referee lends: in which slot, its dtype as torch names it (`float32`), shape and strides. Dense."""

    slot: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputSpec:
    """A tensor that a worker returned, as claimed.

    `segment` is an IPC handle in hex, empty for host memory, or `slot:<n>` for memory that the referee lent. `offset` counts
    bytes from the segment's start, or is the address itself in host memory. `oddities` lists what makes it other than a
    plain tensor, `aliases` what it shares memory with.
    """

    segment: str
    offset: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: str
    oddities: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


# ---------------------------------------------------------------------------------------------- referee <-> worker (the page)


@dataclass(frozen=True, kw_only=True, slots=True)
class Go:
    """What the worker is told at GO: for each input set the arguments of forward. The same bytes from call to call as a rule."""

    sets: tuple[str, ...]
    tensors: tuple[tuple[InputSpec, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """What the worker says at DONE. Only hints: the referee reads the memory itself and has its own clock."""

    structures: tuple[str, ...]
    outputs: tuple[tuple[OutputSpec, ...], ...]
    claimed_event_ms: float
    claimed_host_ms: float
    error: str = ""
    error_text: str = ""


# ---------------------------------------------------------------------------------------------- supervisor -> zygote


@dataclass(frozen=True, kw_only=True, slots=True)
class Fork:
    """Fork a worker. Descriptors beside it: control socket, gate page, log pipe, keeper socket."""

    side: Side
    workspace: str
    environment: Mapping[str, str]
    host_memory_bytes: int
    file_bytes: int
    namespaces: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Forked:
    """The keeper's process id."""

    keeper_pid: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ZygoteReady:
    """The imports are done."""

    versions: Mapping[str, str]
    import_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerStarted:
    """From the keeper: the worker's process id, seen from outside, and what confinement was reached."""

    worker_pid: int
    reached: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerEnded:
    """From the keeper: how the worker ended (`exit 0`, `signal 9`), and how many descendants outlived it before being killed."""

    exit: str
    survivors: int


# ---------------------------------------------------------------------------------------------- supervisor <-> worker


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepare:
    """Set the backend flags, start the device, map the lent slots. `handles` is empty on the CPU, where descriptors come along."""

    device: str
    gpu: int
    fp32_precision: str
    slot_bytes: tuple[int, ...]
    handles: tuple[str, ...]
    threads: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """The device is up and the slots are mapped; what the process looks like before any foreign code."""

    state: WorkerState
    device_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Confine:
    """Give up for good what a program has no business with: read only under `readable`, write only under `writable`."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Confined:
    """What was reached, proved by attempts that had to fail, and what this host refused."""

    reached: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EnterGate:
    """Serve the gate page until the referee sends you back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftGate:
    """The referee sent me back from the gate."""

    state: WorkerState


@dataclass(frozen=True, kw_only=True, slots=True)
class Build:
    """Import the program where no GPU is visible, so that its extensions get compiled; then end."""

    path: str
    entry: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """The import succeeded without a GPU."""

    import_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Import the program and construct `entry(*init_args)` under the weight seed, then move it to the device and dtype."""

    path: str
    entry: str
    init_args: str
    init_tensors: tuple[InputSpec, ...]
    weight_seed: int
    dtype: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """The program is ready for its first call."""

    states: tuple[WorkerState, ...]
    import_s: float
    construct_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadFailed:
    """The program did not load."""

    failure: LoadFailure


# ---------------------------------------------------------------------------------------------- supervisor <-> referee


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenProblem:
    """Load the reference's source, draw once for the shapes, and lend slots."""

    source: str
    device: str
    gpu: int
    precision: str
    fp32_precision: str
    weight_seed: int
    widths: int
    threads: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ProblemOpened:
    """The slots that were lent and the constructor's arguments. Descriptors of the slots come along on the CPU."""

    slot_bytes: tuple[int, ...]
    handles: tuple[str, ...]
    init_args: str
    init_tensors: tuple[InputSpec, ...]
    notes: tuple[str, ...]
    versions: Mapping[str, str]
    bytes_read: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ProblemRefused:
    """The reference can't be used; one line."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Attach:
    """Here is a worker: its process id, and its page as a descriptor."""

    side: Side
    pid: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Attached:
    """The page is mapped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibrate:
    """Make no-op calls through the gate of one worker. `heat_s`: keep the card busy for that long first."""

    side: Side
    calls: int
    heat_s: float
    call_timeout_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibrated:
    """What the hand-over costs; None when the calls did not succeed, with the reason."""

    calibration: Calibration | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunBlock:
    """Put the calls of a block to the reference and, unless `solo`, to the candidate."""

    block: Block
    solo: bool
    call_timeout_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockDone:
    """What was seen, and what the referee has to say about its own means (host draws, no fp64 oracle)."""

    evidence: BlockEvidence
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SendBack:
    """Send this worker from the gate back to its control socket."""

    side: Side


@dataclass(frozen=True, kw_only=True, slots=True)
class SentBack:
    """`left`: the worker went. `unstable`: outputs of its last answer that differed on the second look."""

    unstable: tuple[int, ...]
    left: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RefereeFailed:
    """The referee itself could not go on: our fault or the host's, never the candidate's."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Finish:
    """Release everything and end."""
