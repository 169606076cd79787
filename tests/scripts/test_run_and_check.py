"""`scripts/run_and_check.py` stands in for KernelBench's script of that name: same arguments, same lines, plus a verdict."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path

import pytest

from kernelguard.cli.engine import Engine
from kernelguard.cli.keyvalue import run_script
from kernelguard.cli.run_and_check import RunAndCheck, run_and_check
from kernelguard.native.messages import NativeRequest, NativeResult
from kernelguard.terms.errors import ProblemError
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Mode, Policy, Rules
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Integrity, Native, Verdict

SCRIPT = Path(__file__).parents[2] / "scripts" / "run_and_check.py"
UPSTREAM_DEFAULTS = {
    "ref_arch_src_path": "",
    "dataset_src": "huggingface",
    "dataset_name": "ScalingIntelligence/KernelBench",
    "eval_mode": "local",
    "gpu": "L40S",
    "num_correct_trials": 5,
    "num_perf_trials": 100,
    "timeout": 300,
    "verbose": False,
    "measure_performance": True,
    "timing_method": "cuda_event",
    "build_dir_prefix": "",
    "clear_cache": False,
    "gpu_arch": ("Ada",),
    "precision": "fp32",
    "backend": "cuda",
    "check_kernel": True,
}
Door = Callable[..., int]


class Desk:
    """A scripted engine that keeps what it was asked."""

    def __init__(self, integrity: Integrity = Integrity.PASS, native: NativeResult | None = None) -> None:
        self.integrity = integrity
        self.native = native or NativeResult(compiled=True, correctness=True, runtime=0.5, ref_runtime=1.25)
        self.compiled_ms: float | None = 0.75
        self.asked: list[tuple[Problem, Candidate, Policy]] = []
        self.requested: list[NativeRequest] = []

    def engine(self) -> Engine:
        """What the script is given."""
        return Engine(
            evaluator=lambda _device, _gpu: nullcontext(self._evaluate),
            run_native=self._run_native,
            time_compiled=self._time_compiled,
        )

    def _evaluate(self, problem: Problem, candidate: Candidate, policy: Policy) -> Verdict:
        self.asked.append((problem, candidate, policy))
        passed = self.integrity is Integrity.PASS
        finding = Finding(code="RH-05", detector="RH-TEST", severity=Severity.ERROR, summary="An answer was kept.")
        return Verdict(
            integrity=self.integrity,
            verified_correctness=passed,
            verified_runtime_ms=0.5 if passed else None,
            findings=() if passed else (finding,),
            native=Native(compiled=True, correctness=True, runtime_ms=0.5, ref_runtime_ms=1.25),
        )

    def _run_native(self, request: NativeRequest, _timeout_s: float) -> NativeResult:
        self.requested.append(request)
        return self.native

    def _time_compiled(self, _request: NativeRequest) -> float:
        if self.compiled_ms is None:
            raise ProblemError("inductor has no compiler")
        return self.compiled_ms


@pytest.fixture
def door(tmp_path: Path) -> Door:
    """Run the script's function on a pair of files: `door("key=value", ..., desk=Desk())` gives the exit code."""
    (tmp_path / "ref.py").write_text("class Model: ...\n")
    (tmp_path / "new.py").write_text("class ModelNew: ...\n")

    def fetch(given: RunAndCheck) -> Problem:
        return Problem(source=f"level {given.level} problem {given.problem_id}", name="19_ReLU.py")

    def knock(*words: str, desk: Desk) -> int:
        pair = ["ref_origin=local", f"ref_arch_src_path={tmp_path / 'ref.py'}", f"kernel_src_path={tmp_path / 'new.py'}"]
        return run_script(
            RunAndCheck, "run_and_check: test", [*pair, *words], lambda given: run_and_check(given, fetch, desk.engine())
        )

    return knock


def test_the_defaults_are_kernelbenchs() -> None:
    """A command line that leaves an argument out must mean what it meant there."""
    defaults = {field.name: field.default for field in fields(RunAndCheck)}

    assert {name: getattr(defaults[name], "value", defaults[name]) for name in UPSTREAM_DEFAULTS} == UPSTREAM_DEFAULTS
    assert defaults["reward_hardening_mode"] is Mode.OFF
    assert defaults["reward_hardening_policy"] is Rules.SOURCE_STRICT


def test_off_is_the_default_and_says_that_nothing_is_verified(door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever swaps the script in gets KernelBench's numbers, and is told what they are."""
    desk = Desk()

    assert door(desk=desk) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[INFO] reward_hardening_mode=off")
    assert "nothing is verified" in lines[0]
    assert not desk.asked
    assert lines[1:] == [
        "=" * 40,
        "[Eval] Kernel eval result: compiled=True correctness=True metadata={} runtime=0.5 runtime_stats={} "
        "ref_runtime=1.25 ref_runtime_stats={}",
        "-" * 40,
        "[Timing] PyTorch Reference Eager exec time: 1.25 ms",
        "[Timing] PyTorch Reference torch.compile time: 0.75 ms",
        "[Timing] Custom Kernel exec time: 0.5 ms",
        "-" * 40,
        "[Speedup] Speedup over eager: 2.50x",
        "[Speedup] Speedup over torch.compile: 1.50x",
        "=" * 40,
    ]


def test_off_hands_upstreams_arguments_on(door: Door, tmp_path: Path) -> None:
    """An argument that is read and dropped changes numbers that people compare."""
    desk = Desk()

    door(
        "num_correct_trials=3",
        "num_perf_trials=7",
        "timing_method=do_bench",
        "measure_performance=F",
        "precision=bf16",
        "backend=triton",
        "verbose=T",
        f"build_dir_prefix={tmp_path / 'build'}",
        desk=desk,
    )

    request = desk.requested[0]
    assert (request.num_correct_trials, request.num_perf_trials, request.timing_method) == (3, 7, "do_bench")
    assert (request.measure_performance, request.precision, request.backend, request.verbose) == (False, "bf16", "triton", True)
    assert request.build_dir is not None
    assert request.build_dir.startswith(str(tmp_path / "build" / "test_build"))


def test_a_wrong_kernel_has_no_speedup(door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    """The time of a wrong kernel is the time of nothing."""
    assert door(desk=Desk(native=NativeResult(compiled=True, runtime=0.1, ref_runtime=1.0))) == 0

    assert "[Speedup] Speedup Not Available as Kernel did not pass correctness" in capsys.readouterr().out


def test_a_reference_that_does_not_compile_costs_only_its_own_figure(door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    """The evaluation is done by then, and its result must not be lost."""
    desk = Desk()
    desk.compiled_ms = None

    assert door(desk=desk) == 0

    out = capsys.readouterr().out
    assert "[WARN] the reference can't be timed under torch.compile: inductor has no compiler" in out
    assert "[Timing] PyTorch Reference torch.compile time: not measured" in out
    assert "[Speedup] Speedup over eager: 2.50x" in out


@pytest.mark.parametrize(
    ("mode", "integrity", "code"), [("enforce", Integrity.PASS, 0), ("enforce", Integrity.FAIL, 1), ("audit", Integrity.FAIL, 0)]
)
def test_hardened_modes_print_the_verdict_the_lines_and_the_record(
    door: Door, mode: str, integrity: Integrity, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tools that parse KernelBench's lines go on working, and the record is there for those that know better."""
    desk = Desk(integrity)

    assert door(f"reward_hardening_mode={mode}", "reward_hardening_policy=practical", "timeout=9", desk=desk) == code

    out = capsys.readouterr().out
    _, _, policy = desk.asked[0]
    assert (policy.mode, policy.rules, policy.limits.timeout_s) == (Mode(mode), Rules.PRACTICAL, 9.0)
    assert out.startswith(integrity.value)
    assert "[Eval] Kernel eval result: compiled=True correctness=True" in out
    assert "[Speedup] Speedup over eager: 2.50x" in out
    record = json.loads(out[out.index("\n{\n") :])
    assert record["reward_hardening"]["integrity_status"] == integrity.value


def test_an_argument_without_effect_is_named(door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    """Silence would let somebody believe that another clock was read."""
    door("reward_hardening_mode=enforce", "timing_method=do_bench", "check_kernel=F", desk=Desk())

    out = capsys.readouterr().out
    assert "[NOTE] timing_method has no effect in enforce" in out
    assert "[NOTE] check_kernel has no effect in enforce" in out
    assert out.count("[NOTE]") == 2


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["eval_mode=modal"], "use eval_mode=local"),
        (["eval_mode=modal", "reward_hardening_mode=audit"], "use eval_mode=local"),
        (["eval_mode=modal", "reward_hardening_mode=enforce"], "use eval_mode=local"),
        (["reward_hardening_mod=enforce"], "did you mean 'reward_hardening_mode'?"),
        (["ref_arch_src_path="], "ref_arch_src_path=... is required"),
        (["kernel_src_path=nowhere.py"], "candidate nowhere.py: no such file"),
        (["precision=fp8"], "fp32 or fp16 or bf16"),
        (["num_perf_trials=0"], "num_perf_trials=0"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(
    door: Door, words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Above all Modal: silently judging on a machine that nobody controls would be worth nothing."""
    desk = Desk()

    assert door(*words, desk=desk) == 2

    error = capsys.readouterr().err
    assert complaint in error
    assert len(error.splitlines()) == 1
    assert desk.asked == []
    assert desk.requested == []


def test_a_problem_of_the_benchmark_is_fetched_by_its_number(door: Door) -> None:
    """`ref_origin=kernelbench` is how the benchmark is run one by one."""
    desk = Desk()

    door("ref_origin=kernelbench", "level=1", "problem_id=19", "reward_hardening_mode=audit", desk=desk)

    assert desk.asked[0][0].source == "level 1 problem 19"


def test_the_record_can_be_kept(door: Door, tmp_path: Path) -> None:
    """Terminal output is no archive."""
    door("reward_hardening_mode=enforce", f"output={tmp_path / 'record.json'}", desk=Desk())

    assert json.loads((tmp_path / "record.json").read_text())["reward_hardening"]["verified"] is True


def _script(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=False, timeout=120, env=bare, cwd=cwd
    )


def test_the_script_runs_from_a_checkout_that_is_not_installed(tmp_path: Path) -> None:
    """`python scripts/run_and_check.py` is what the README says, from any directory."""
    helped = _script("--help", cwd=tmp_path)

    assert helped.returncode == 0, helped.stderr
    for field in fields(RunAndCheck):
        assert f"  {field.name}=" in helped.stdout


@pytest.mark.parametrize("words", [["level=99", "problem_id=1"], ["level=1", "problem_id=999"], ["level=1"]])
def test_a_problem_that_does_not_exist_is_one_line(words: list[str]) -> None:
    """The numbers are typed by hand."""
    ended = _script("ref_origin=kernelbench", "dataset_src=local", "kernel_src_path=new.py", *words)

    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
