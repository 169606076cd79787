"""`extended` is written in one place, printed in another and described in a third: the three must speak of the same keys."""

import io
import re
from pathlib import Path

import pytest
from evidence_builder import WRONG, call, evidence, plain_calls, process_state, states_of, worker_state
from rich.console import Console

from kernelguard.evaluation.dossier import dossier
from kernelguard.evaluation.sitting import Sitting
from kernelguard.reporting.record import parse_record, record_text, to_record
from kernelguard.reporting.text import render
from kernelguard.terms.evidence import Calibration, Evidence, Side
from kernelguard.terms.plan import draw_plan
from kernelguard.terms.policy import Isolation, Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Integrity, Verdict

SEED = "ab" * 32
SCHEMA = Path(__file__).parents[2] / "docs" / "schema.md"


def sitting(seen: Evidence, *, card: tuple[dict[str, int], ...] = ()) -> Sitting:
    """A finished sitting with this evidence."""
    return Sitting(
        evidence=seen,
        plan=draw_plan(Policy(), SEED),
        versions={"python": "3.12.3", "torch": "2.11.0", "device": "NVIDIA H200", "driver": "580.1"},
        isolation=Isolation.NAMESPACES,
        reached=("landlock", "pid"),
        missing=(),
        clocks=card,
    )


@pytest.fixture
def measured() -> dict[str, object]:
    """The dossier of an evaluation with one wrong call."""
    calibration = {side: Calibration(gaps_ms=(0.2, 0.21, 0.19), chains_ms=(0.1, 0.1, 0.1)) for side in Side}
    seen = evidence(
        (*plain_calls(20), call(20, outcome=WRONG)),
        calibration=calibration,
        states=states_of(worker_state("end")),
        processes={Side.CANDIDATE: (process_state(),)},
        stages_s={"build": 3.0},
        notes=("budget: ended after 21 calls",),
    )
    card = ({"sm_mhz": 1980, "temperature_c": 40, "throttle_reasons": 0},)
    return dossier(Problem(source="x", name="p"), Candidate(source="y", name="c"), Policy(), sitting(seen, card=card))


def printed(extended: dict[str, object]) -> str:
    """What a person reads of it."""
    stream = io.StringIO()
    verdict = Verdict(integrity=Integrity.FAIL, verified_correctness=False, verified_runtime_ms=None, extended=extended)
    Console(file=stream, width=160, color_system=None).print(render(verdict, Policy()))
    return stream.getvalue()


def test_the_schema_page_lists_the_keys_that_are_written(measured: dict[str, object]) -> None:
    """A record is read by programs that were written from that page."""
    table = SCHEMA.read_text(encoding="utf-8").partition("## `reward_hardening.extended`")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)

    assert set(listed) == {"policy", *measured}


def test_every_figure_of_the_dossier_reaches_the_printed_verdict(measured: dict[str, object]) -> None:
    """A key that is spelled in two ways is a measurement that nobody sees."""
    text = printed(measured)

    for words in (
        "device events, as the worker claims",
        "host clock, as the worker claims",
        "witness, read outside the worker",
        "hand-over, in the witness time only:",
        "witness less claim, beyond the reference's:",
        "standard error of that:",
        "allowed for one call:",
        "at most this much could have been hidden:",
        "95 % interval",
        "21 pairs, budget",
        "largest error: 0.003, which is 30 of the tolerance (0.0001)",
        "worst row on its own: 9 of its tolerance",
        "first wrong value: call 20 (plain), output 0",
        "driver 580.1",
        "isolation namespaces landlock, pid",
        f"plan seed {SEED}",
        "seconds: build 3",
    ):
        assert words in text


def test_what_changes_from_run_to_run_is_not_said_of_the_host(measured: dict[str, object]) -> None:
    """A replay warns of every host fact that differs; temperatures always do."""
    assert measured["card"] == [{"sm_mhz": 1980, "temperature_c": 40, "throttle_reasons": 0}]
    assert all(isinstance(value, str) for value in measured["host"].values())  # type: ignore[attr-defined]  # a mapping


def test_a_dossier_survives_the_way_through_a_record(measured: dict[str, object]) -> None:
    """What can't be written and read again can't be replayed."""
    verdict = Verdict(integrity=Integrity.FAIL, verified_correctness=False, verified_runtime_ms=None, extended=measured)

    read = parse_record(record_text(to_record(verdict, Policy()))).reward_hardening

    assert read is not None
    assert read.extended is not None
    assert read.extended["plan"] == measured["plan"]
    assert read.extended["correctness"] == measured["correctness"]


def test_a_sitting_in_which_nothing_was_called_still_gives_a_dossier() -> None:
    """A candidate that does not load is the commonest case of all; its record must hold its error."""
    seen = evidence((call(0, candidate=None, outcome=None),))

    text = printed(dossier(Problem(source="x", name="p"), Candidate(source="y", name="c"), Policy(), sitting(seen)))

    assert "Clocks" not in text
    assert "Speedup" not in text
    assert "plan seed" in text
