"""The conversation between supervisor and referee. `Finish`, which ends it, is in `messages`."""

from collections.abc import Mapping
from dataclasses import dataclass

from kernelguard.terms.evidence import BlockEvidence, Calibration, Side
from kernelguard.terms.plan import Block
from kernelguard.wire.gate_messages import InputSpec


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
