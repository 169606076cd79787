"""Read answers where they are: the snapshot that stops the clock, the second look, and the poison afterwards."""

from collections.abc import Sequence

import torch

from kernelguard.gate.memory import DTYPES, MAX_DIMS, Lender, Unreadable, element_count, is_dense
from kernelguard.referee.counterpart import Answer, Counterpart
from kernelguard.referee.problem import ProblemDesk
from kernelguard.terms.evidence import Fault, Refused, Side
from kernelguard.wire.gate_messages import Done, OutputSpec

SPARE_BYTES = 1 << 20
MAX_SLOT_DIGITS = 6
_INTEGER_TRIES = 512  # more than an 8-bit type has values: if one is absent, it is found


class Reader:
    """Everything that touches a worker's memory."""

    def __init__(self, desk: ProblemDesk, lender: Lender) -> None:
        self._desk = desk
        self._lender = lender
        self.largest_answer = 0

    def snapshot(self, peer: Counterpart, done: Done, call: int, spare: list[torch.Tensor]) -> tuple[Answer | Refused, bool]:
        """Copies of all outputs, in place and at once; or why there are none."""
        if done.error:
            return Refused(fault=Fault.RAISED, detail=done.error_text[:2000]), False
        specs = [spec for outputs in done.outputs for spec in outputs]
        refusal = self._readable(peer, specs, len(done.outputs))
        if refusal is not None:
            return refusal, False
        copies, new = [], False
        try:
            for spec in specs:
                copy = spare.pop(0) if spare and spare[0].numel() == size_of(spec) else self._room(size_of(spec))
                new |= self._copy(peer, spec, copy)
                copies.append(copy)
        except Unreadable as error:
            return Refused(fault=Fault.UNREADABLE, detail=str(error)), new
        shares = any(spec.aliases for spec in specs)
        return Answer(call=call, specs=specs, copies=copies, shares=shares), new

    def _room(self, size: int) -> torch.Tensor:
        return torch.empty(size, dtype=torch.uint8, device=self._desk.device)

    def _copy(self, peer: Counterpart, spec: OutputSpec, into: torch.Tensor) -> bool:
        if not into.numel():
            return False
        if spec.segment.startswith("slot:"):
            into.copy_(self._lent(spec)[spec.offset : spec.offset + into.numel()])
            return False
        return self._lender.snapshot(peer.pid, spec, into)

    def _lent(self, spec: OutputSpec) -> torch.Tensor:
        number = spec.segment.removeprefix("slot:")
        slots = self._desk.all_slots
        if not (
            number.isascii()
            and number.isdigit()
            and len(number) <= MAX_SLOT_DIGITS
            and int(number) < len(slots)
            and 0 <= spec.offset <= slots[int(number)].memory.numel() - size_of(spec)
        ):
            raise Unreadable("not a range of a lent slot")
        return slots[int(number)].memory

    def _readable(self, peer: Counterpart, specs: Sequence[OutputSpec], width: int) -> Refused | None:
        """Refuse what is no plain dense tensor, or larger than any answer could be, before a byte is read."""
        for spec in specs:
            if spec.oddities:
                return Refused(fault=Fault.NOT_PLAIN, detail=", ".join(spec.oddities)[:300])
            if spec.device != self._desk.device:
                return Refused(fault=Fault.DEVICE, detail=f"output on {spec.device[:20]}, expected on {self._desk.device}")
            if spec.dtype not in DTYPES:
                return Refused(fault=Fault.DTYPE, detail=f"output of dtype {spec.dtype[:30]}")
            if len(spec.shape) > MAX_DIMS or len(spec.strides) != len(spec.shape) or min((*spec.shape, 0)) < 0:
                return Refused(fault=Fault.SHAPE, detail="not a shape")
            if element_count(spec.shape) and not is_dense(spec.shape, spec.strides):
                return Refused(fault=Fault.LAYOUT, detail=f"strides {spec.strides} leave holes or overlap")
        total = sum(size_of(spec) for spec in specs) // max(1, width)
        if peer.side is Side.REFERENCE:
            self.largest_answer = max(self.largest_answer, total)
        elif total > 2 * self.largest_answer + SPARE_BYTES:
            return Refused(fault=Fault.SHAPE, detail=f"{total} bytes of output; the reference returns {self.largest_answer}")
        return None

    def second_look(self, peer: Counterpart, keep: Answer | None) -> tuple[int, ...]:
        """Read the answer before this one again, then poison it, so that what the allocator recycles holds no right answer."""
        unstable: list[int] = []
        while peer.answers:
            old = peer.answers.popleft()
            for number, (spec, copy) in enumerate(zip(old.specs, old.copies, strict=True)):
                if not self._unchanged(peer, spec, copy):
                    unstable.append(number)
            if keep is not None and not old.shares and not _overlapping(old.specs, keep.specs):
                self._poison(peer, old)
        if keep is not None:
            peer.answers.append(keep)
        return tuple(unstable)

    def _unchanged(self, peer: Counterpart, spec: OutputSpec, copy: torch.Tensor) -> bool:
        if spec.segment.startswith("slot:") or not copy.numel():
            return True  # the referee pours into lent memory itself
        try:
            return self._lender.still(peer.pid, spec, copy)
        except Unreadable:
            return False

    def _poison(self, peer: Counterpart, old: Answer) -> None:
        for spec, copy in zip(old.specs, old.copies, strict=True):
            if copy.numel():
                try:
                    self._lender.overwrite(peer.pid, spec, poison_value(copy.view(DTYPES[spec.dtype]), old.call))
                except Unreadable:
                    continue  # the worker freed it already; there is nothing left to recycle


def size_of(spec: OutputSpec) -> int:
    """Bytes of an output."""
    return element_count(spec.shape) * DTYPES[spec.dtype].itemsize


def _overlapping(old: Sequence[OutputSpec], new: Sequence[OutputSpec]) -> bool:
    return any(
        a.segment == b.segment and a.offset < b.offset + size_of(b) and b.offset < a.offset + size_of(a)
        for a in old
        for b in new
        if size_of(a) and size_of(b)
    )


def poison_value(answer: torch.Tensor, call: int) -> float:
    """A finite value that no element of an answer of this size is near: more than 10 tolerances beyond the largest.

    For integers a value that the answer does not hold, for booleans the rarer one. At the ends of a type, where nothing
    lies beyond the largest, the value that is farthest from its nearest element.
    """
    if answer.dtype is torch.bool:
        return 0.0 if answer.float().mean().item() > 0.5 else 1.0
    if not answer.is_floating_point() and not answer.is_complex():
        return _absent_integer(answer, call)
    values = answer.float() if answer.dtype.itemsize == 1 else answer  # torch has little arithmetic on float8
    finite = values.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0) if answer.is_floating_point() else answer.abs()
    value = (2.0 + (call % 13) / 13) * float(finite.abs().max().item()) + 1.0
    limit = torch.finfo(answer.dtype).max / 2
    return (value if call % 2 else -value) if value <= limit else _farthest(finite.double(), limit, call)


def _farthest(answer: torch.Tensor, limit: float, call: int) -> float:
    """Of some values of the whole range, the one whose nearest element is farthest, measured in the native tolerance's form."""
    choices = [sign * limit * 2.0**-step * (1 + (call % 7) / 16) for step in range(6) for sign in (1, -1)]
    distances = [float(((answer - choice).abs() / (1 + answer.abs())).min().item()) for choice in choices]
    return choices[distances.index(max(distances))]


def _absent_integer(answer: torch.Tensor, call: int) -> int:
    info = torch.iinfo(answer.dtype)
    largest, smallest = int(answer.max().item()), int(answer.min().item())
    if largest + 8 <= info.max:
        return largest + 1 + call % 7
    if smallest - 8 >= info.min:
        return smallest - 1 - call % 7
    span = info.max - info.min + 1
    tries = (info.min + (call * 2_654_435_761 + step * 40_503 + 1) % span for step in range(_INTEGER_TRIES))
    return next((value for value in tries if not bool((answer == value).any().item())), info.min)
