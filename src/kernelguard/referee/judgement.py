"""Judge one call: the candidate's answer against the reference's, and the reference's against fp64."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from kernelguard.gate.memory import DTYPES
from kernelguard.referee.compare import Tolerance, compare, has_nan, worst_relative_row
from kernelguard.referee.counterpart import Answer
from kernelguard.referee.problem import Arguments, ProblemDesk
from kernelguard.terms.evidence import CallEvidence, Compared, Fault, Refused, Side, SideCall
from kernelguard.terms.plan import Call
from kernelguard.wire.gate_messages import OutputSpec

NOISE_FACTOR = 8.0
REMEMBERED_BYTES = 2 << 30  # answers larger than this are not kept to recognise a replay


@dataclass(slots=True)
class Asked:
    """One side's half of a call: its times, its answer or why there is none, and copies of inputs that it changed."""

    times: SideCall
    answer: Answer | Refused
    structures: tuple[str, ...]
    changed: dict[int, torch.Tensor]
    unstable: tuple[int, ...]


class Judge:
    """Holds the tolerance, which the first answer may widen, and the reference's last answers."""

    def __init__(self, desk: ProblemDesk) -> None:
        self._desk = desk
        self._tolerance = desk.tolerance
        self._noise_known = False
        self._earlier: deque[list[torch.Tensor]] = deque(maxlen=2)

    def judge(self, call: Call, sets: list[Arguments], asked: dict[Side, Asked]) -> CallEvidence:
        """What was seen of this call. Without a candidate (the solo block) only the reference's half is there."""
        reference, candidate = asked[Side.REFERENCE], asked.get(Side.CANDIDATE)
        oracle = self._oracle(call, sets, reference)
        tolerance, void = self._measure(reference, oracle)
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
        outcome = self._outcome(reference, reference.answer, candidate, tolerance)
        if oracle and isinstance(candidate.answer, Answer) and isinstance(outcome, Compared):
            outcome = replace(
                outcome,
                oracle_row=worst_relative_row(oracle, _tensors(candidate.answer)),
                reference_oracle_row=worst_relative_row(oracle, _tensors(reference.answer)),
            )
        if sum(copy.numel() for copy in reference.answer.copies) <= REMEMBERED_BYTES:
            self._earlier.append(_tensors(reference.answer))
        return replace(
            evidence,
            outcome=outcome,
            inputs_changed=tuple(sorted(candidate.changed.keys() - reference.changed.keys())),
            unstable_outputs=candidate.unstable if not reference.unstable else (),
        )

    def _outcome(self, reference: Asked, expected: Answer, candidate: Asked, tolerance: Tolerance) -> Refused | Compared:
        if isinstance(candidate.answer, Refused):
            return candidate.answer
        refusal = _form_differs(reference.structures, expected, candidate.structures, candidate.answer)
        if refusal is not None:
            return refusal
        wanted, given = _tensors(expected), _tensors(candidate.answer)
        for number in sorted(reference.changed.keys() & candidate.changed.keys()):
            wanted.append(reference.changed[number])
            given.append(candidate.changed[number])
        return compare(wanted, given, tolerance, list(self._earlier))

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

    def _measure(self, reference: Asked, oracle: list[torch.Tensor]) -> tuple[Tolerance, str]:
        """The tolerance for this call, and why the call measures nothing, or ''.

        Where the reference itself is far from fp64 in some row, as on rows that cancel, no candidate is held to more there.
        The first answer of all tells how noisy the reference is on plain draws, for the calls without an oracle.
        """
        if isinstance(reference.answer, Refused):
            detail = f"{reference.answer.fault.value}: {reference.answer.detail[:200]}"
            return self._tolerance, f"the reference gave no answer: {detail}"
        expected = _tensors(reference.answer)
        if has_nan(expected):
            return self._tolerance, "the reference's output has NaN"
        learn, self._noise_known = not self._noise_known, True
        if not oracle:
            return self._tolerance, ""
        seen = compare(oracle, [t.to(o.dtype) for t, o in zip(expected, oracle, strict=True)], self._tolerance, [])
        factor = max(1.0, NOISE_FACTOR * (seen.worst_row if seen.worst_row is not None else 1.0))
        loosened = Tolerance(native=self._tolerance.native, row=self._tolerance.row * factor)
        if learn:
            self._tolerance = loosened
        return loosened, "" if seen.native_ok or learn else "fp32 and fp64 disagree here"


def _tensors(answer: Answer) -> list[torch.Tensor]:
    return [
        copy.view(DTYPES[spec.dtype]).as_strided(spec.shape, _strides(spec))
        for spec, copy in zip(answer.specs, answer.copies, strict=True)
    ]


def _strides(spec: OutputSpec) -> tuple[int, ...]:
    """The claimed strides, with 1 where a dimension has one element and any claim would do."""
    return tuple(stride if extent > 1 else 1 for extent, stride in zip(spec.shape, spec.strides, strict=True))


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
