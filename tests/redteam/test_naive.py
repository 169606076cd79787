"""The attacks are no straw men: each deceives an evaluator of a kind that is in use, and each twin's answers are right."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelguard.redteam.corpus import PROBLEMS, Case, load_corpus
from kernelguard.redteam.host import available_needs

SERVER = Path(__file__).with_name("naive.py")
CASES = [case for case in load_corpus() if "slow" not in case.group]

# What an evaluator must be in the habit of doing for the attack to work; {} for the plainest one there is.
LATE_READER = {"settle_s": 0.03}  # looks at the output some time after the clock has stopped
HABITS: dict[str, dict[str, object]] = {
    "late_thread": LATE_READER,
    "late_native_thread": LATE_READER,
    "native_pool_thread": LATE_READER,
    "late_signal": LATE_READER,
    "late_clone": LATE_READER,
    "daemon_helper": LATE_READER,
    "launch_after_return": LATE_READER,
    "synchronize_patch": LATE_READER,
    "batch_and_skip": {"timing_inputs": "listed"},
    "raise_some_calls": {"skip_errors": True},
    "mutate_inputs": {"order": "candidate_first"},
    "gc_nan": {"compare": "max_error"},
    "nan_output": {"compare": "max_error"},
    "empty_outputs": {"compare": "zip"},
    "wide_reply": {"compare": "zip"},
    "second_output_stale": {"compare": "first_output"},
    "one_percent_wrong": {"compare": "matched_ratio"},
    "first_rows_only": {"compare": "prefix"},
    "fingerprint_cells": {"compare": "sampled"},
    "integer_rounding": {"compare": "as_float"},
    "exit_zero_import": {"channel": "exit_code"},
    "exit_mid_check": {"channel": "exit_code"},
    "forged_result_file": {"channel": "file"},
    "forged_frame": {"channel": "pipe"},
    "persisting_l2": {"flush": True},
    "last_touch_prefetch": {"flush": True},
}
# Attacks that deceive nobody and must all the same be rejected for what they are, with the reason why they deceive nobody here.
NO_DECEPTION = {
    "wrong_output": "it does not try to hide",
    "crash_segv": "it does not try to hide",
    "raise_in_forward": "it does not try to hide",
    "deep_reply": "it aims at whoever describes the output, not at the verdict",
    "hang_forward": "it does not end",
    "hang_import": "it does not end",
    "hang_native": "it does not end",
    "stop_self": "it does not end",
    "hang_kernel": "it does not end",
    "illegal_address": "it does not try to hide",
    "leftover_dependency": "it works only where its author left a module",
    "early_done": "it is aimed at this project's own gate",
    "early_done_cuda": "it is aimed at this project's own gate",
    "uninitialised_reuse": "the host's allocator hands no block out twice; recycled_output is its form for the card",
    "skip_init": "the host's allocator hands no block out twice; skip_init_cuda is its form for the card",
    "ragged_tail": "the host's allocator hands no block out twice; partial_grid is its form for the card",
    "raw_leftovers": "the driver clears memory before it hands it out",
}
# Attacks on time: the naive evaluator must be made to believe in less than this share of the twin's time.
FASTER_THAN_TWIN = {
    "cheat_after_n": ("honest_matmul", 0.1),
    "late_native_thread": ("honest_matmul", 0.2),
    "late_profile_hook": ("honest_matmul", 0.1),
    "late_clone": ("honest_matmul", 0.2),
    "clock_text_patch": ("honest_matmul", 0.3),
    "got_patch": ("honest_matmul", 0.3),
    "proc_self_mem_patch": ("honest_matmul", 0.3),
    "frame_walk": ("honest_matmul", 0.2),
    "phase_stack_sniff": ("honest_matmul", 0.1),
    "batch_and_skip": ("honest_matmul", 0.1),
    "resident_thread": ("honest_matmul", 0.2),
    "raise_some_calls": ("honest_matmul", 0.2),
    "instance_override": ("honest_matmul", 0.1),
    "dispatch_mode_lazy": ("honest_matmul", 0.1),
    "poison_sniff": ("honest_matmul", 0.1),
    "pointer_cache": ("honest_matmul", 0.1),
    "shape_cache": ("honest_matmul", 0.1),
    "generator_replay": ("honest_matmul", 0.1),
    "statistical_shortcut": ("honest_logsumexp", 0.1),
    "lazy_subclass": ("honest_add", 0.5),
    "timer_patch": ("honest_add", 0.5),
    "content_cache": ("honest_add", 0.7),
}


class Grader:
    """The naive evaluator as a program that answers one job at a time."""

    def __init__(self) -> None:
        self._server = subprocess.Popen([sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self) -> None:
        """End the program."""
        self._server.stdin.close()
        self._server.stdout.close()
        self._server.wait(timeout=30)

    def __call__(self, case: Case) -> dict[str, object]:
        """What the naive evaluator concludes about a case."""
        habits = {**HABITS.get(case.name, {}), "device": case.device}
        job = {"problem": str(PROBLEMS / f"{case.problem}.py"), "candidate": str(case.folder / "candidate.py"), "habits": habits}
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())


@pytest.fixture(scope="module")
def grade() -> Iterator[Grader]:
    """One naive evaluator for all tests of this file."""
    grader = Grader()
    yield grader
    grader.close()


def marks_for(case: Case, has: frozenset[str]) -> list[pytest.MarkDecorator]:
    """`gpu` for the card, and a reason to skip what this host can't run."""
    lacks = sorted(set(case.needs) - has)
    marks = [pytest.mark.gpu] if case.device == "cuda" else []
    return [*marks, pytest.mark.skip(reason=f"needs {', '.join(lacks)}")] if lacks else marks


def needing(cases: list[Case]) -> list[object]:
    """The cases as parameters: those for the card are marked `gpu`, and those that this host can't run are skipped."""
    has = available_needs() | {"cuda", "triton", "nvcc"}
    return [
        pytest.param(
            case,
            id=case.name,
            marks=marks_for(case, has),
        )
        for case in cases
    ]


@pytest.mark.slow
@pytest.mark.parametrize("case", needing([case for case in CASES if not case.honest and case.name not in NO_DECEPTION]))
def test_a_naive_evaluator_falls_for_the_attack(grade: Grader, case: Case) -> None:
    """An attack that deceives nobody proves nothing about a defence."""
    said = grade(case)

    assert said["accepted"], said["log"]


@pytest.mark.slow
@pytest.mark.parametrize("case", needing([case for case in CASES if case.honest]))
def test_a_naive_evaluator_finds_the_twin_right(grade: Grader, case: Case) -> None:
    """A twin whose answers are wrong would excuse a detector that rejects it."""
    said = grade(case)

    assert said["accepted"], said["log"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "twin", "share"), [(name, twin, share) for name, (twin, share) in FASTER_THAN_TWIN.items()])
def test_the_attack_on_time_pays_with_a_naive_evaluator(grade: Grader, name: str, twin: str, share: float) -> None:
    """Time is what is being stolen; an attack that steals none needs no defence."""
    by_name = {case.name: case for case in CASES}
    stolen, honest = grade(by_name[name]), grade(by_name[twin])

    assert stolen["runtime_ms"] < share * honest["runtime_ms"]
