"""Describe what forward returned, without copying it: structure, place, dtype, shape, strides, and whatever is odd about it."""

from collections.abc import Sequence

import torch

from kernelguard.gate.memory import MAX_DIMS, MAX_OUTPUTS, Borrower, dtype_name
from kernelguard.terms.errors import WireError
from kernelguard.wire.gate_messages import (
    OutputSpec,
)
from kernelguard.wire.tree import pack

_type = type
_ALLOWED_TYPES = (torch.Tensor, torch.nn.Parameter)

Owned = tuple[str, int, int]  # a name and the address range [low, high) that belongs to it


class Returned:
    """The tensors of one return value, kept alive until the referee has looked a second time."""

    def __init__(self, value: object) -> None:
        self.tensors: list[torch.Tensor] = []
        self.structure = pack(value, self._take)

    def _take(self, item: object) -> int | None:
        if not isinstance(item, torch.Tensor):
            return None
        if len(self.tensors) >= MAX_OUTPUTS:
            raise WireError(f"more than {MAX_OUTPUTS} output tensors")
        self.tensors.append(item)
        return len(self.tensors) - 1

    def specs(self, memory: Borrower, owned: Sequence[Owned]) -> tuple[OutputSpec, ...]:
        """Where the outputs are. `owned` are address ranges that belong to inputs and weights."""
        return tuple(describe(tensor, memory, owned) for tensor in self.tensors)


def describe(tensor: torch.Tensor, memory: Borrower, owned: Sequence[Owned]) -> OutputSpec:
    """One output. A tensor that is no plain strided one gets an empty place and an oddity that says so."""
    oddities = list(_oddities(tensor))
    plain = tensor.layout is torch.strided and not oddities and tensor.dim() <= MAX_DIMS
    aliases = _overlapping(tensor, owned) if plain and tensor.numel() else []
    segment, offset = "", 0
    lent = [name for name in aliases if name.startswith("slot:")]
    if lent:
        segment, offset = lent[0], tensor.data_ptr() - next(low for name, low, _ in owned if name == lent[0])
    elif plain and tensor.numel():
        segment, offset = memory.locate(tensor)
    return OutputSpec(
        segment=segment,
        offset=offset,
        dtype=dtype_name(tensor.dtype),
        shape=tuple(tensor.shape[:MAX_DIMS]),
        strides=tuple(tensor.stride()[:MAX_DIMS]) if plain else (),
        device=tensor.device.type,
        oddities=tuple(oddities),
        aliases=tuple(aliases),
    )


def _oddities(tensor: torch.Tensor) -> list[str]:
    found = []
    if _type(tensor) not in _ALLOWED_TYPES:
        found.append(f"type {_type(tensor).__name__[:60]}")
    attributes = getattr(tensor, "__dict__", None)
    if attributes:
        found.append(f"instance attributes {sorted(map(str, attributes))[:4]}")
    if tensor.layout is not torch.strided:
        found.append(f"layout {tensor.layout}")
        return found
    if tensor.requires_grad:
        found.append("requires grad")
    if tensor.is_neg() or tensor.is_conj():
        found.append("neg or conj bit")
    return found


def _overlapping(tensor: torch.Tensor, owned: Sequence[Owned]) -> list[str]:
    start = tensor.data_ptr()
    end = start + tensor.numel() * tensor.element_size()
    return [name for name, low, high in owned if start < high and low < end]


def weight_ranges(module: object) -> list[Owned]:
    """Address ranges of a module's parameters and buffers."""
    if not isinstance(module, torch.nn.Module):
        return []
    held = [*module.named_parameters(), *module.named_buffers()]
    return [(f"weight:{name[:80]}", *_range(t)) for name, t in held if t.layout is torch.strided and t.numel()]


def slot_ranges(slots: Sequence[torch.Tensor]) -> list[Owned]:
    """Address ranges of the memory that the referee lent."""
    return [(f"slot:{number}", *_range(slot)) for number, slot in enumerate(slots) if slot.numel()]


def _range(tensor: torch.Tensor) -> tuple[int, int]:
    return tensor.data_ptr(), tensor.data_ptr() + tensor.numel() * tensor.element_size()
