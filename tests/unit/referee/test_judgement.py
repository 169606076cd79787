"""One call judged: form before values, any dense layout is right, and where the reference is no measure nobody is blamed."""

import math
from dataclasses import dataclass, field
from typing import cast

import pytest
import torch

from kernelguard.gate.memory import flat_bytes
from kernelguard.referee.compare import Tolerance
from kernelguard.referee.counterpart import Answer
from kernelguard.referee.judgement import Asked, Judge
from kernelguard.referee.problem import Arguments, ProblemDesk
from kernelguard.terms.evidence import CallEvidence, Compared, Fault, Refused, Side, SideCall
from kernelguard.terms.plan import Call, DrawKind
from kernelguard.terms.policy import Precision
from kernelguard.wire.gate_messages import OutputSpec

TIMES = SideCall(witness_ms=1.2, done_ms=1.1, chain_ms=0.1, claimed_event_ms=1.0, claimed_host_ms=1.0)


@dataclass
class Desk:
    """What a judge asks of the problem: the tolerance and the fp64 reference, if there is one."""

    truth: list[torch.Tensor] | str = "none here"
    tolerance: Tolerance = field(default_factory=lambda: Tolerance.of(Precision.FP32))
    notes: list[str] = field(default_factory=list)

    def oracle(self, _: Arguments) -> list[torch.Tensor] | str:
        """The fp64 outputs, or why there are none."""
        return self.truth

    def note(self, text: str) -> None:
        """Remember."""
        self.notes.append(text)


def answer(*tensors: torch.Tensor, aliases: tuple[str, ...] = (), strides: tuple[int, ...] | None = None) -> Answer:
    """These outputs, copied as the reader copies them; `strides` is a lie about the first."""
    specs = [
        OutputSpec(
            segment="", offset=4096, dtype=str(tensor.dtype).removeprefix("torch."), shape=tuple(tensor.shape),
            strides=tensor.stride() if strides is None else strides, device="cpu", aliases=aliases,
        )
        for tensor in tensors
    ]  # fmt: skip
    return Answer(call=0, specs=specs, copies=[flat_bytes(tensor).clone() for tensor in tensors])


def asked(
    given: Answer | Refused, *, structure: str = '{"t":0}', unstable: tuple[int, ...] = (), changed: tuple[int, ...] = ()
) -> Asked:
    """One side's half."""
    changes = {number: torch.ones(4) for number in changed}
    return Asked(times=TIMES, answer=given, structures=(structure,), changed=changes, unstable=unstable)


def judged(
    reference: Asked, candidate: Asked | None, *, judge: Judge | None = None, oracle: bool = False, desk: Desk | None = None
) -> CallEvidence:
    """What a judge makes of one plain call."""
    call = Call(
        index=3, kind=DrawKind.PLAIN, variant=0, input_seeds=(1,), device_seed=2, candidate_first=True, scored=True, oracle=oracle
    )
    sides = {Side.REFERENCE: reference} | ({Side.CANDIDATE: candidate} if candidate else {})
    sitting = judge or Judge(cast("ProblemDesk", desk or Desk()))
    return sitting.judge(call, [Arguments(structure="", tensors=[])], sides)


RIGHT = torch.arange(64.0).view(4, 16)


@pytest.mark.parametrize("given", [RIGHT, RIGHT.T.contiguous().T], ids=["rows", "columns"])
def test_the_same_values_in_any_dense_layout_are_right(given: torch.Tensor) -> None:
    """Channels-last outputs are honest; comparing bytes would call them wrong."""
    outcome = judged(asked(answer(RIGHT)), asked(answer(given))).outcome

    assert isinstance(outcome, Compared)
    assert outcome.native_ok
    assert outcome.rows_ok


def test_the_same_bytes_in_another_layout_are_wrong() -> None:
    """The values count at their index, not the memory."""
    square = torch.arange(256.0).view(16, 16)
    outcome = judged(asked(answer(square)), asked(answer(square, strides=(1, 16)))).outcome

    assert isinstance(outcome, Compared)
    assert not outcome.native_ok


@pytest.mark.parametrize(
    ("given", "structure", "fault"),
    [
        (answer(RIGHT.double()), '{"t":0}', Fault.DTYPE),
        (answer(RIGHT.half()), '{"t":0}', Fault.DTYPE),
        (answer(RIGHT[None]), '{"t":0}', Fault.SHAPE),
        (answer(RIGHT.reshape(16, 4)), '{"t":0}', Fault.SHAPE),
        (answer(RIGHT), '{"l":[{"t":0}]}', Fault.STRUCTURE),
        (answer(RIGHT, RIGHT), '{"t":0}', Fault.STRUCTURE),
        (answer(), '{"t":0}', Fault.STRUCTURE),
        (answer(RIGHT, aliases=("slot:0",)), '{"t":0}', Fault.ALIAS),
        (answer(RIGHT, aliases=("weight:w",)), '{"t":0}', Fault.ALIAS),
    ],
)
def test_another_form_is_refused_before_values_are_looked_at(given: Answer, structure: str, fault: Fault) -> None:
    """Broadcasting or casting would make something right that is not what was asked for."""
    outcome = judged(asked(answer(RIGHT)), asked(given, structure=structure)).outcome

    assert isinstance(outcome, Refused)
    assert outcome.fault is fault


def test_memory_may_be_shared_where_the_reference_shares_it_too() -> None:
    """A problem that returns its input, or a weight, asks for just that."""
    outcome = judged(asked(answer(RIGHT, aliases=("weight:a",))), asked(answer(RIGHT, aliases=("weight:b",)))).outcome

    assert isinstance(outcome, Compared)


@pytest.mark.parametrize("stride", [-4, 10**30])
def test_a_stride_of_an_extent_of_one_can_not_end_the_referee(stride: int) -> None:
    """DONE can be written by hand; a stride that means nothing must not raise where outputs are compared."""
    outcome = judged(asked(answer(torch.ones(1, 16))), asked(answer(torch.ones(1, 16), strides=(stride, 1)))).outcome

    assert isinstance(outcome, (Compared, Refused))


def test_a_call_whose_reference_has_nan_is_void() -> None:
    """There is nothing to be right about."""
    broken = RIGHT.clone()
    broken[1, 1] = math.nan

    assert "NaN" in judged(asked(answer(broken)), asked(answer(broken))).void
    assert judged(asked(answer(RIGHT)), asked(answer(broken))).void == ""


def test_a_reference_without_an_answer_voids_the_call_and_accuses_nobody() -> None:
    """Its own fault is no measure of the candidate."""
    seen = judged(asked(Refused(fault=Fault.RAISED, detail="no")), asked(answer(RIGHT)))

    assert seen.void
    assert seen.outcome is None


def test_an_input_that_both_sides_changed_is_compared_and_one_that_only_one_changed_is_named() -> None:
    """In-place problems are judged by what they leave behind."""
    both = judged(asked(answer(RIGHT), changed=(0,)), asked(answer(RIGHT), changed=(0, 2)))
    reference_alone = judged(asked(answer(RIGHT), changed=(0,)), asked(answer(RIGHT)))

    assert both.inputs_changed == (2,)
    assert isinstance(both.outcome, Compared)
    assert both.outcome.elements == RIGHT.numel() + 4
    assert reference_alone.inputs_changed == ()


def test_instability_that_the_reference_shows_too_is_not_the_candidates() -> None:
    """The control is unstable itself."""
    alone = judged(asked(answer(RIGHT)), asked(answer(RIGHT), unstable=(0,)))
    both = judged(asked(answer(RIGHT), unstable=(0,)), asked(answer(RIGHT), unstable=(0,)))

    assert (alone.unstable_outputs, both.unstable_outputs) == ((0,), ())


def test_a_solo_call_has_no_candidate_and_no_outcome() -> None:
    """The control block before the import."""
    seen = judged(asked(answer(RIGHT)), None)

    assert (seen.candidate, seen.outcome, seen.void) == (None, None, "")


def test_an_answer_to_the_call_before_is_recognised() -> None:
    """A cache that returns the last answer is told from a wrong kernel."""
    judge = Judge(cast("ProblemDesk", Desk()))
    judged(asked(answer(RIGHT)), asked(answer(RIGHT)), judge=judge)

    seen = judged(asked(answer(RIGHT + 1)), asked(answer(RIGHT)), judge=judge).outcome

    assert isinstance(seen, Compared)
    assert seen.replays


def test_a_probe_on_which_fp32_itself_is_wrong_is_void_and_one_on_which_it_is_right_counts() -> None:
    """Where rows cancel no candidate is held to more than the reference; the first call only learns."""
    for truth, void in ((RIGHT.double(), ""), (RIGHT.double() * 1.5, "fp32 and fp64 disagree here")):
        judge = Judge(cast("ProblemDesk", Desk(truth=[truth])))
        first = judged(asked(answer(RIGHT)), asked(answer(RIGHT)), judge=judge)
        probe = judged(asked(answer(RIGHT)), asked(answer(RIGHT)), judge=judge, oracle=True)

        assert (first.void, probe.void) == ("", void)
        assert isinstance(probe.outcome, Compared)
        assert probe.outcome.oracle_row == probe.outcome.reference_oracle_row is not None


@pytest.mark.parametrize("truth", ["it does not fit into memory", [torch.ones(2, dtype=torch.float64)]])
def test_a_missing_fp64_reference_is_noted_and_measures_nothing(truth: list[torch.Tensor] | str) -> None:
    """A blind spot has to stand in the record."""
    desk = Desk(truth=truth)

    seen = judged(asked(answer(RIGHT)), asked(answer(RIGHT)), oracle=True, desk=desk).outcome

    assert isinstance(seen, Compared)
    assert seen.oracle_row is None
    assert len(desk.notes) == 1
    assert "no fp64 oracle" in desk.notes[0]
