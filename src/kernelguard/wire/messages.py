"""The conversations of the supervisor with fork server, keeper and worker. None of them carries a verdict or a score."""

from collections.abc import Mapping
from dataclasses import dataclass

from kernelguard.terms.evidence import LoadFailure, Side, WorkerState
from kernelguard.wire.gate_messages import InputSpec


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepare:
    """Set the backend flags, start the device, map the lent slots. On the CPU descriptors come along and `handles` is empty."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Finish:
    """Release everything and end."""
