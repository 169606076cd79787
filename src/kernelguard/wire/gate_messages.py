"""What crosses the gate page between referee and worker: what is asked, what is claimed, and where tensors are."""

from dataclasses import dataclass


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
