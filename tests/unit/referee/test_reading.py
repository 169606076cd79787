"""Whatever a worker writes into DONE, the referee reads it, refuses it, or finds nothing; it never raises."""

import math
import os
from collections import deque
from dataclasses import dataclass, field
from typing import cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelguard.gate.host_memory import HostLender
from kernelguard.gate.memory import DTYPES
from kernelguard.referee.counterpart import Answer, Counterpart
from kernelguard.referee.problem import ProblemDesk, Slot
from kernelguard.referee.reading import Reader
from kernelguard.terms.evidence import Fault, Refused, Side
from kernelguard.wire.gate_messages import Done, OutputSpec

ELEMENTS = 16


@dataclass
class Desk:
    """What a reader asks of the problem: where outputs belong and what was lent."""

    device: str = "cpu"
    all_slots: list[Slot] = field(default_factory=lambda: [Slot(torch.arange(64, dtype=torch.uint8), "", -1)])


@dataclass
class Peer:
    """A worker whose memory is this process's own."""

    side: Side = Side.CANDIDATE
    pid: int = field(default_factory=os.getpid)
    answers: deque[Answer] = field(default_factory=deque)


def reader(largest: int = 4 * ELEMENTS) -> Reader:
    """A reader that knows how large the reference's answers are."""
    made = Reader(cast("ProblemDesk", Desk()), HostLender())
    made.largest_answer = largest
    return made


def done(*specs: OutputSpec, error: str = "") -> Done:
    """A worker's DONE for one input set."""
    return Done(structures=("",), outputs=(specs,), claimed_event_ms=1.0, claimed_host_ms=1.0, error=error, error_text=error)


def spec_of(tensor: torch.Tensor, **changes: object) -> OutputSpec:
    """Where a tensor of this process lies, with lies on request."""
    honest: dict[str, object] = {
        "segment": "", "offset": tensor.data_ptr(), "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": tuple(tensor.shape), "strides": tensor.stride(), "device": "cpu",
    }  # fmt: skip
    return OutputSpec(**(honest | changes))  # type: ignore[arg-type]  # the names are those of the fields


def read(made: Reader, peer: Peer, *specs: OutputSpec, call: int = 0) -> Answer | Refused:
    """One snapshot and the second look at what was there before."""
    answer, _ = made.snapshot(cast("Counterpart", peer), done(*specs), call, [])
    made.second_look(cast("Counterpart", peer), keep=answer if isinstance(answer, Answer) else None)
    return answer


def test_an_answer_is_copied_and_the_worker_may_change_its_own_later() -> None:
    """The copy is what is judged."""
    output = torch.arange(16.0)

    answer = read(reader(), Peer(), spec_of(output))
    output.zero_()

    assert isinstance(answer, Answer)
    assert answer.copies[0].view(torch.float32).tolist() == list(range(16))


@pytest.mark.parametrize(
    ("lie", "fault"),
    [
        ({"oddities": ("type Lazy",)}, Fault.NOT_PLAIN),
        ({"device": "cuda"}, Fault.DEVICE),
        ({"device": "meta"}, Fault.DEVICE),
        ({"dtype": "float31"}, Fault.DTYPE),
        ({"dtype": "__class__"}, Fault.DTYPE),
        ({"shape": (-16,)}, Fault.SHAPE),
        ({"shape": (16,) + (1,) * 16, "strides": (1,) * 17}, Fault.SHAPE),
        ({"strides": ()}, Fault.SHAPE),
        ({"strides": (2,)}, Fault.LAYOUT),
        ({"strides": (0,)}, Fault.LAYOUT),
        ({"shape": (1 << 40,)}, Fault.SHAPE),
        ({"shape": (1 << 200,)}, Fault.SHAPE),
        ({"offset": 8}, Fault.UNREADABLE),
        ({"segment": "feed"}, Fault.UNREADABLE),
        ({"segment": "slot:7", "offset": 0}, Fault.UNREADABLE),
        ({"segment": "slot:-1", "offset": 0}, Fault.UNREADABLE),
        ({"segment": "slot:", "offset": 0}, Fault.UNREADABLE),
        ({"segment": "slot:0", "offset": 1}, Fault.UNREADABLE),
        ({"segment": "slot:0", "offset": -1}, Fault.UNREADABLE),
        pytest.param({"segment": "slot:\N{SUPERSCRIPT TWO}"}, Fault.UNREADABLE),
        pytest.param({"segment": "slot:" + "1" * 5000}, Fault.UNREADABLE),
    ],
)
def test_a_lie_about_an_output_is_refused_by_its_name(lie: dict[str, object], fault: Fault) -> None:
    """A DONE that was written by hand is the candidate's fault; the referee's death would be the host's."""
    refused = read(reader(), Peer(), spec_of(torch.ones(ELEMENTS), **lie))

    assert isinstance(refused, Refused)
    assert refused.fault is fault


def test_a_forward_that_raised_is_refused_with_its_text() -> None:
    """Nothing is read then, whatever else DONE holds."""
    answer, new = reader().snapshot(cast("Counterpart", Peer()), done(spec_of(torch.ones(4)), error="ValueError: no"), 0, [])

    assert answer == Refused(fault=Fault.RAISED, detail="ValueError: no")
    assert not new


def test_an_answer_in_lent_memory_is_read_from_the_slot() -> None:
    """A candidate that returns its input gets compared by what the slot holds."""
    answer = read(reader(), Peer(), spec_of(torch.ones(8, dtype=torch.uint8), segment="slot:0", offset=40, aliases=("slot:0",)))

    assert isinstance(answer, Answer)
    assert answer.copies[0].tolist() == list(range(40, 48))


def test_a_late_write_is_seen_at_the_second_look_and_only_in_the_output_that_changed() -> None:
    """DONE before the work is done."""
    made, peer, first, second = reader(), Peer(), torch.ones(8), torch.ones(8)
    read(made, peer, spec_of(first), spec_of(second))
    second[3] = 5.0

    assert made.second_look(cast("Counterpart", peer), keep=None) == (1,)


def test_memory_that_is_gone_at_the_second_look_is_unstable() -> None:
    """The worker promised to keep it; freeing it early hides what a late kernel would write."""
    made, peer = reader(), Peer()
    answer = read(made, peer, spec_of(torch.ones(8)))
    assert isinstance(answer, Answer)
    answer.specs[0] = spec_of(torch.ones(8), offset=8)

    assert made.second_look(cast("Counterpart", peer), keep=None) == (0,)


@pytest.mark.parametrize(
    "dtype",
    [
        pytest.param(dtype, id=name)
        for name, dtype in DTYPES.items()
    ],
)  # fmt: skip
def test_an_answer_of_any_dtype_is_poisoned_after_its_second_look(dtype: torch.dtype) -> None:
    """The dtype is the candidate's choice: `.to(torch.float8_e4m3fn)` must not end the referee."""
    made, peer = reader(largest=1 << 10), Peer()
    old, new = (torch.arange(ELEMENTS) % 2).to(dtype), torch.ones(ELEMENTS)
    before = old.view(torch.uint8).clone()
    read(made, peer, spec_of(old))
    read(made, peer, spec_of(new), call=1)

    assert not torch.equal(old.view(torch.uint8), before)
    assert torch.equal(new, torch.ones(ELEMENTS))


@pytest.mark.parametrize("changes", [{"aliases": ("weight:weight",)}, {"aliases": ("slot:0",)}])
def test_memory_that_is_not_the_answers_alone_is_never_overwritten(changes: dict[str, object]) -> None:
    """Poison in a weight would make every later answer wrong, and blame the candidate for it."""
    made, peer, weight = reader(), Peer(), torch.ones(ELEMENTS)
    read(made, peer, spec_of(weight, **changes))
    read(made, peer, spec_of(torch.zeros(ELEMENTS)), call=1)

    assert torch.equal(weight, torch.ones(ELEMENTS))


def test_memory_that_the_next_answer_uses_again_is_not_overwritten() -> None:
    """An answer in place of the one before is alive: poison there would spoil what is still to be looked at."""
    made, peer, memory = reader(), Peer(), torch.ones(ELEMENTS)
    read(made, peer, spec_of(memory[:8]))
    read(made, peer, spec_of(memory[4:12]), call=1)

    assert torch.equal(memory, torch.ones(ELEMENTS))


SPECS = st.builds(
    OutputSpec,
    segment=st.sampled_from(["", "slot:0", "slot:1", "slot:x", "ab" * 64]) | st.text(alphabet="slot:0123x", max_size=8),
    offset=st.integers() | st.sampled_from([0, -1, 8, 1 << 46, 1 << 62, 1 << 64, 1 << 100]),
    dtype=st.sampled_from([*(name for name in DTYPES if "float8" not in name), "float31", ""]),
    shape=st.lists(st.integers(-2, 40) | st.sampled_from([0, 1, 1 << 31, 1 << 63, 1 << 90]), max_size=5).map(tuple),
    strides=st.lists(st.integers(-2, 40) | st.sampled_from([0, 1, 1 << 63]), max_size=5).map(tuple),
    device=st.sampled_from(["cpu", "cpu", "cpu", "cuda", ""]),
    oddities=st.sampled_from([(), (), ("odd",)]),
    aliases=st.sampled_from([(), ("slot:0",), ("",)]),
)


@settings(max_examples=300, deadline=None, database=None)
@given(st.lists(SPECS, max_size=3))
def test_any_done_gives_an_answer_or_a_refusal(specs: list[OutputSpec]) -> None:
    """No address that was made up is read, and no size that was made up is allocated."""
    made, peer = reader(), Peer()

    answer, _ = made.snapshot(cast("Counterpart", peer), done(*specs), 0, [])

    if isinstance(answer, Answer):
        assert sum(copy.numel() for copy in answer.copies) <= 2 * made.largest_answer + (1 << 20)
        assert [copy.numel() for copy in answer.copies] == [DTYPES[spec.dtype].itemsize * math.prod(spec.shape) for spec in specs]
