"""One call, both sides: reveal the input, stop the clock at the snapshot of the answer, look again, compare in full."""

import time
from dataclasses import dataclass

import torch

from kernelguard.gate.memory import Lender, flat_bytes, same_bytes
from kernelguard.gate.page import Command, DeadlinePassed, WorkerGone
from kernelguard.referee.chain import Chain
from kernelguard.referee.cores import Cores
from kernelguard.referee.counterpart import Answer, Counterpart
from kernelguard.referee.draws import edit
from kernelguard.referee.judgement import Asked, Judge
from kernelguard.referee.problem import Arguments, ProblemDesk
from kernelguard.referee.reading import Reader
from kernelguard.terms.errors import WireError
from kernelguard.terms.evidence import BlockEvidence, CallEvidence, Ended, Refused, Side, SideCall
from kernelguard.terms.plan import Block, Call, DrawKind
from kernelguard.wire.framing import encode
from kernelguard.wire.gate_messages import Done, Go

MIN_CLAIM_MS, MAX_CLAIM_MS = 1e-6, 1e9
CANARY_EDIT = 2  # the variant of a canary whose input differs in single elements


class SideEnded(Exception):
    """A worker ended, fell silent, or broke the protocol in the middle of a block."""

    def __init__(self, side: Side, ended: Ended, detail: str) -> None:
        super().__init__(detail)
        self.side, self.ended, self.detail = side, ended, detail


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is put to a worker: the payload for its page, what is poured before, the seed, and how many launches it makes."""

    command: Command
    payload: bytes
    pours: list[tuple[torch.Tensor, torch.Tensor]]
    timeout_s: float
    call: int = -1
    seed: int = 0
    launches: int = 1


class Conductor:
    """Puts calls to the attached workers."""

    def __init__(self, desk: ProblemDesk, lender: Lender, chain: Chain, cores: Cores) -> None:
        self._cores = cores
        self._desk = desk
        self._lender = lender
        self._chain = chain
        self._reader = Reader(desk, lender)
        self._judge = Judge(desk)
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
        return self._ring(self.sides[side], Question(command=Command.NOOP, payload=payload, pours=[], timeout_s=timeout_s))[0]

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
        question = Question(
            command=Command.CALL,
            payload=payload,
            pours=pours,
            timeout_s=timeout_s,
            call=call.index,
            seed=call.device_seed,
            launches=len(sets),
        )
        asked = {side: self._ask(side, question) for side in order}
        return self._judge.judge(call, sets, asked)

    def _draw(self, call: Call) -> list[Arguments]:
        seeds = call.input_seeds[: self._desk.width]
        sets = [self._desk.arguments(seed=seed, kind=call.kind, variant=call.variant) for seed in seeds]
        if call.kind is DrawKind.CANARY and call.variant == CANARY_EDIT:
            for arguments in sets:
                edit(arguments.tensors, seed=call.device_seed)
        return sets

    def _ask(self, side: Side, question: Question) -> Asked:
        peer = self.sides[side]
        times, answer, done = self._ring(peer, question)
        unstable = self._reader.second_look(peer, keep=answer if isinstance(answer, Answer) else None)
        changed = {
            number: slot.clone() for number, (slot, pristine) in enumerate(question.pours) if not same_bytes(slot, pristine)
        }
        return Asked(times=times, answer=answer, structures=done.structures, changed=changed, unstable=unstable)

    def _ring(self, peer: Counterpart, question: Question) -> tuple[SideCall, Answer | Refused, Done]:
        """The clocked part: rehearsal, freeze, chain, GO, DONE, snapshot, freeze.

        The rehearsal is a no-op call with what was asked the last time. It warms the processor's caches on both sides, so
        that the hand-over costs the same from call to call; what is asked this time is not on the page yet.
        """
        try:
            self._rehearse(peer, question.timeout_s)
            spare = [torch.empty_like(copy) for copy in peer.answers[-1].copies] if peer.answers else []
            chain_ms = self._chain.run(question.pours)
            peer.prepare(question.payload, question.seed)
            self._chain.hold(question.launches)
            rung = peer.ring(question.command, question.timeout_s)
            answer, new_segment = self._reader.snapshot(peer, rung.done, question.call, spare)
            self._lender.synchronize()
            snapshot_ns = time.monotonic_ns()
        except DeadlinePassed as error:
            raise SideEnded(peer.side, Ended.TIMEOUT, f"no answer within {question.timeout_s:g} s") from error
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
        self._reader.snapshot(peer, done, -1, [])
        self._lender.synchronize()
        peer.freeze()

    def let_go(self, side: Side) -> tuple[int, ...]:
        """The second look at the last answer, and all processors for what the worker does away from the gate."""
        unstable = self._reader.second_look(self.sides[side], keep=None)
        self.sides[side].settle(self._cores.all)
        return unstable


def _finite(claim: float) -> float:
    """The claim, or -1 (which RH-15 refuses) for what no clock can have read: no number, under a nanosecond, over eleven days."""
    return claim if claim == 0 or MIN_CLAIM_MS <= abs(claim) <= MAX_CLAIM_MS else -1.0
