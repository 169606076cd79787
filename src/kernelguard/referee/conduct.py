"""One call, both sides: reveal the input, stop the clock at the snapshot of the answer, look again, compare in full."""

import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from kernelguard.gate.memory import DTYPES, MAX_DIMS, Lender, Unreadable, element_count, flat_bytes, is_dense, same_bytes
from kernelguard.gate.page import Command, DeadlinePassed, WorkerGone
from kernelguard.referee.chain import Chain
from kernelguard.referee.compare import Tolerance, compare, has_nan, worst_relative_row
from kernelguard.referee.cores import Cores
from kernelguard.referee.counterpart import Answer, Counterpart
from kernelguard.referee.draws import edit
from kernelguard.referee.problem import Arguments, ProblemDesk
from kernelguard.terms.errors import WireError
from kernelguard.terms.evidence import (
    BlockEvidence, CallEvidence, Compared, Ended, Fault, Refused, Side, SideCall,
)  # fmt: skip
from kernelguard.terms.plan import Block, Call, DrawKind
from kernelguard.wire.framing import encode
from kernelguard.wire.messages import Done, Go, OutputSpec

CANARY_EDIT = 2  # the variant of a canary whose input differs in single elements
NOISE_FACTOR = 8.0
SPARE_BYTES = 1 << 20
REMEMBERED_BYTES = 2 << 30  # answers larger than this are not kept to recognise a replay


class SideEnded(Exception):
    """A worker ended, fell silent, or broke the protocol in the middle of a block."""

    def __init__(self, side: Side, ended: Ended, detail: str) -> None:
        super().__init__(detail)
        self.side, self.ended, self.detail = side, ended, detail


@dataclass(slots=True)
class Asked:
    """One side's half of a call: its times, its answer or why there is none, and copies of inputs that it changed."""

    times: SideCall
    answer: Answer | Refused
    structures: tuple[str, ...]
    changed: dict[int, torch.Tensor]
    unstable: tuple[int, ...]


class Conductor:
    """Puts calls to the attached workers."""

    def __init__(self, desk: ProblemDesk, lender: Lender, chain: Chain, cores: Cores) -> None:
        self._cores = cores
        self._desk = desk
        self._lender = lender
        self._chain = chain
        self._tolerance = desk.tolerance
        self._largest_answer = 0
        self._noise_known = False
        self._earlier: deque[list[torch.Tensor]] = deque(maxlen=2)
        self.sides: dict[Side, Counterpart] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the referee could not do, or did otherwise than usual."""
        return tuple(self._desk.notes)

    def run(self, block: Block, *, solo: bool, timeout_s: float) -> BlockEvidence:
        """All calls of a block, or as many as both workers answered."""
        for side in (Side.REFERENCE,) if solo else Side:
            self.sides[side].freeze()
            self.sides[side].settle(self._cores.all if block.warmup else self._cores.worker)
        calls: list[CallEvidence] = []
        for call in block.calls:
            try:
                calls.append(self._call(call, solo=solo, timeout_s=timeout_s))
            except SideEnded as end:
                return BlockEvidence(calls=tuple(calls), ended=end.ended, ended_side=end.side, detail=end.detail)
        return BlockEvidence(calls=tuple(calls))

    def noop(self, side: Side, payload: bytes, timeout_s: float) -> SideCall:
        """One call that runs no program, with the chain before it. Raises SideEnded."""
        self.sides[side].settle(self._cores.worker)
        return self._ring(self.sides[side], Command.NOOP, payload, [], timeout_s)[0]

    # ------------------------------------------------------------------------------------------ one call

    def _call(self, call: Call, *, solo: bool, timeout_s: float) -> CallEvidence:
        sets = self._draw(call)
        specs = tuple(self._desk.specs(arguments, number) for number, arguments in enumerate(sets))
        payload = encode(Go(sets=tuple(a.structure for a in sets), tensors=specs))
        tensors = [tensor for arguments in sets for tensor in arguments.tensors]
        pours = [
            (self._desk.slots[spec.slot].memory[: tensor.numel() * tensor.element_size()], flat_bytes(tensor))
            for spec, tensor in zip((spec for group in specs for spec in group), tensors, strict=True)
        ]
        order = [Side.REFERENCE] if solo else [Side.REFERENCE, Side.CANDIDATE]
        if call.candidate_first:
            order.reverse()
        asked = {side: self._ask(side, call, payload, pours, timeout_s) for side in order}
        return self._judge(call, sets, asked)

    def _draw(self, call: Call) -> list[Arguments]:
        seeds = call.input_seeds[: self._desk.width]
        sets = [self._desk.arguments(seed=seed, kind=call.kind, variant=call.variant) for seed in seeds]
        if call.kind is DrawKind.CANARY and call.variant == CANARY_EDIT:
            for arguments in sets:
                edit(arguments.tensors, seed=call.device_seed)
        return sets

    def _ask(
        self, side: Side, call: Call, payload: bytes, pours: list[tuple[torch.Tensor, torch.Tensor]], timeout_s: float
    ) -> Asked:
        peer = self.sides[side]
        width = min(len(call.input_seeds), self._desk.width)
        times, answer, done = self._ring(peer, Command.CALL, payload, pours, timeout_s, call=call.index, seed=call.device_seed, launches=width)
        unstable = self._second_look(peer, keep=answer if isinstance(answer, Answer) else None)
        changed = {number: slot.clone() for number, (slot, pristine) in enumerate(pours) if not same_bytes(slot, pristine)}
        return Asked(times=times, answer=answer, structures=done.structures, changed=changed, unstable=unstable)

    def _ring(
        self,
        peer: Counterpart,
        command: Command,
        payload: bytes,
        pours: list[tuple[torch.Tensor, torch.Tensor]],
        timeout_s: float,
        call: int = -1,
        seed: int = 0,
        launches: int = 1,
    ) -> tuple[SideCall, Answer | Refused, Done]:
        """The clocked part: rehearsal, freeze, chain, GO, DONE, snapshot, freeze.

        The rehearsal is a no-op call with what was asked the last time. It warms the processor's caches on both sides, so
        that the hand-over costs the same from call to call; what is asked this time is not on the page yet.
        """
        try:
            self._rehearse(peer, timeout_s)
            spare = [torch.empty_like(copy) for copy in peer.answers[-1].copies] if peer.answers else []
            chain_ms = self._chain.run(pours)
            peer.prepare(payload, seed)
            self._chain.hold(launches)
            rung = peer.ring(command, timeout_s)
            answer, new_segment = self._snapshot(peer, rung.done, call, spare)
            self._lender.synchronize()
            snapshot_ns = time.monotonic_ns()
        except DeadlinePassed as error:
            raise SideEnded(peer.side, Ended.TIMEOUT, f"no answer within {timeout_s:g} s") from error
        except WorkerGone as error:
            raise SideEnded(peer.side, Ended.DEAD, "the process ended during a call") from error
        except WireError as error:
            raise SideEnded(peer.side, Ended.PROTOCOL, str(error)) from error
        finally:
            peer.freeze()
        times = SideCall(
            witness_ms=(snapshot_ns - rung.go_ns) / 1e6,
            done_ms=(rung.done_ns - rung.go_ns) / 1e6,
            chain_ms=chain_ms,
            claimed_event_ms=_finite(rung.done.claimed_event_ms),
            claimed_host_ms=_finite(rung.done.claimed_host_ms),
            new_segment=new_segment,
        )
        return times, answer, rung.done

    def _rehearse(self, peer: Counterpart, timeout_s: float) -> None:
        done = peer.ring(Command.NOOP, timeout_s).done
        self._snapshot(peer, done, -1, [])
        self._lender.synchronize()
        peer.freeze()

    def _snapshot(self, peer: Counterpart, done: Done, call: int, spare: list[torch.Tensor]) -> tuple[Answer | Refused, bool]:
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
                copy = spare.pop(0) if spare and spare[0].numel() == _size(spec) else self._room(_size(spec))
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
        if not (number.isdigit() and int(number) < len(slots) and 0 <= spec.offset <= slots[int(number)].memory.numel() - _size(spec)):
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
        total = sum(_size(spec) for spec in specs) // max(1, width)
        if peer.side is Side.REFERENCE:
            self._largest_answer = max(self._largest_answer, total)
        elif total > 2 * self._largest_answer + SPARE_BYTES:
            return Refused(fault=Fault.SHAPE, detail=f"{total} bytes of output; the reference returns {self._largest_answer}")
        return None

    # ------------------------------------------------------------------------------------------ the second look

    def _second_look(self, peer: Counterpart, keep: Answer | None) -> tuple[int, ...]:
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

    def let_go(self, side: Side) -> tuple[int, ...]:
        """The second look at the last answer, and all processors for what the worker does away from the gate."""
        unstable = self._second_look(self.sides[side], keep=None)
        self.sides[side].settle(self._cores.all)
        return unstable

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

    # ------------------------------------------------------------------------------------------ the judgement

    def _judge(self, call: Call, sets: list[Arguments], asked: dict[Side, Asked]) -> CallEvidence:
        reference, candidate = asked[Side.REFERENCE], asked.get(Side.CANDIDATE)
        oracle = self._oracle(call, sets, reference)
        void = self._void(reference, oracle, learn=not self._noise_known)
        evidence = CallEvidence(
            index=call.index,
            kind=call.kind,
            variant=call.variant,
            scored=call.scored,
            width=len(sets),
            candidate_first=call.candidate_first,
            reference=reference.times,
            candidate=candidate.times if candidate else None,
            void=void,
        )
        if candidate is None or isinstance(reference.answer, Refused):
            return evidence
        outcome = self._outcome(reference, reference.answer, candidate)
        if oracle and isinstance(candidate.answer, Answer) and isinstance(outcome, Compared):
            outcome = replace(
                outcome,
                oracle_row=worst_relative_row(oracle, _tensors(candidate.answer)),
                reference_oracle_row=worst_relative_row(oracle, _tensors(reference.answer)),
            )
        if self._largest_answer <= REMEMBERED_BYTES:
            self._earlier.append(_tensors(reference.answer))
        return replace(
            evidence,
            outcome=outcome,
            inputs_changed=tuple(sorted(candidate.changed.keys() - reference.changed.keys())),
            unstable_outputs=candidate.unstable if not reference.unstable else (),
        )

    def _outcome(self, reference: Asked, expected: Answer, candidate: Asked) -> Refused | Compared:
        if isinstance(candidate.answer, Refused):
            return candidate.answer
        refusal = _form_differs(reference.structures, expected, candidate.structures, candidate.answer)
        if refusal is not None:
            return refusal
        wanted, given = _tensors(expected), _tensors(candidate.answer)
        for number in sorted(reference.changed.keys() & candidate.changed.keys()):
            wanted.append(reference.changed[number])
            given.append(candidate.changed[number])
        return compare(wanted, given, self._tolerance, list(self._earlier))

    def _oracle(self, call: Call, sets: list[Arguments], reference: Asked) -> list[torch.Tensor]:
        """The reference in fp64 for this call's input; empty when it is not asked for or can't be had."""
        if isinstance(reference.answer, Refused) or len(sets) != 1 or not (call.oracle or not self._noise_known):
            return []
        outputs = self._desk.oracle(sets[0])
        if isinstance(outputs, str):
            self._desk.note(f"no fp64 oracle: {outputs}")
            return []
        if [t.shape for t in outputs] != [spec.shape for spec in reference.answer.specs]:
            self._desk.note("no fp64 oracle: it returns other shapes")
            return []
        return outputs

    def _void(self, reference: Asked, oracle: list[torch.Tensor], *, learn: bool) -> str:
        """Why this call measures nothing, or ''. The first answer of all also tells how noisy the reference itself is."""
        if isinstance(reference.answer, Refused):
            return f"the reference gave no answer: {reference.answer.fault.value}: {reference.answer.detail[:200]}"
        expected = _tensors(reference.answer)
        if has_nan(expected):
            return "the reference's output has NaN"
        self._noise_known = True
        if not oracle:
            return ""
        wide = [t.to(o.dtype) for t, o in zip(expected, oracle, strict=True)]
        seen = compare(oracle, wide, self._tolerance, [])
        if learn and seen.worst_row is not None:
            factor = max(1.0, NOISE_FACTOR * seen.worst_row)
            self._tolerance = Tolerance(native=self._tolerance.native, row=self._tolerance.row * factor)
            return ""
        return "" if seen.native_ok else "fp32 and fp64 disagree here"


def _size(spec: OutputSpec) -> int:
    return element_count(spec.shape) * DTYPES[spec.dtype].itemsize


def _finite(claim: float) -> float:
    return claim if math.isfinite(claim) else -1.0


def _tensors(answer: Answer) -> list[torch.Tensor]:
    return [
        copy.view(DTYPES[spec.dtype]).as_strided(spec.shape, spec.strides)
        for spec, copy in zip(answer.specs, answer.copies, strict=True)
    ]


def _overlapping(old: Sequence[OutputSpec], new: Sequence[OutputSpec]) -> bool:
    return any(
        a.segment == b.segment and a.offset < b.offset + _size(b) and b.offset < a.offset + _size(a)
        for a in old
        for b in new
        if _size(a) and _size(b)
    )


def _form_differs(wanted: Sequence[str], expected: Answer, given: Sequence[str], actual: Answer) -> Refused | None:
    """Structure, dtype and shape must be exact; memory may be shared only where the reference shares it too."""
    if list(wanted) != list(given) or len(expected.specs) != len(actual.specs):
        return Refused(fault=Fault.STRUCTURE, detail=f"returned {given[:1]}, expected {wanted[:1]}"[:300])
    for number, (want, got) in enumerate(zip(expected.specs, actual.specs, strict=True)):
        if want.dtype != got.dtype:
            return Refused(fault=Fault.DTYPE, detail=f"output {number} is {got.dtype}, expected {want.dtype}")
        if want.shape != got.shape:
            return Refused(fault=Fault.SHAPE, detail=f"output {number} is {got.shape}, expected {want.shape}")
        extra = {_kind(name) for name in got.aliases} - {_kind(name) for name in want.aliases}
        if extra:
            return Refused(fault=Fault.ALIAS, detail=f"output {number} shares memory with {', '.join(got.aliases)[:200]}")
    return None


def _kind(alias: str) -> str:
    return alias.partition(":")[0]


def poison_value(answer: torch.Tensor, call: int) -> float:
    """A finite value that no element of an answer of this size is near: more than 10 tolerances beyond the largest.

    For integers another value than the largest, for booleans the rarer one.
    """
    if answer.dtype is torch.bool:
        return 0.0 if answer.float().mean().item() > 0.5 else 1.0  # noqa: PLR2004
    if not answer.is_floating_point():
        info = torch.iinfo(answer.dtype)
        largest = int(answer.max().item())
        return largest + 1 + call % 7 if largest + 8 <= info.max else info.min
    finite = answer.float().nan_to_num(nan=0.0, posinf=0.0, neginf=0.0) if not answer.is_complex() else answer.abs()
    value = (2.0 + (call % 13) / 13) * float(finite.abs().max().item()) + 1.0
    return min(value, torch.finfo(answer.dtype).max / 2) * (1 if call % 2 else -1)
