"""`kernelguard check` is the front door: its exit codes feed scripts, its record feeds scores."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.cli.conftest import ScriptedEngine, make_verdict

from kernelguard.native.messages import NativeResult
from kernelguard.reporting.record import parse_record
from kernelguard.terms.errors import HostError, ProblemError
from kernelguard.terms.policy import Fp32Precision, Isolation, Mode, Precision, Rules
from kernelguard.terms.verdict import Integrity

Command = Callable[..., int]


@pytest.mark.parametrize(
    ("mode", "integrity", "code"),
    [
        ("enforce", Integrity.PASS, 0),
        ("enforce", Integrity.SUSPICIOUS, 1),
        ("enforce", Integrity.FAIL, 1),
        ("enforce", Integrity.UNSUPPORTED, 3),
        ("audit", Integrity.PASS, 0),
        ("audit", Integrity.FAIL, 0),
        ("audit", Integrity.UNSUPPORTED, 0),
    ],
)
def test_the_exit_code_says_what_was_decided(
    kernelguard: Command, pair: list[str], mode: str, integrity: Integrity, code: int
) -> None:
    """A script must tell a rejected candidate from a host that could not judge it."""
    assert kernelguard("check", *pair, "--mode", mode, engine=ScriptedEngine(make_verdict(integrity))) == code


def test_without_options_it_enforces_the_strict_rules(kernelguard: Command, pair: list[str]) -> None:
    """Whoever does not choose gets the strictest judge."""
    engine = ScriptedEngine()

    kernelguard("check", *pair, engine=engine)

    _, _, policy = engine.asked[0]
    assert (policy.mode, policy.rules, policy.device) == (Mode.ENFORCE, Rules.SOURCE_STRICT, "cuda")


def test_every_option_reaches_the_evaluator(kernelguard: Command, pair: list[str]) -> None:
    """An option that is read and dropped is worse than none."""
    engine = ScriptedEngine()
    words = (
        "--mode audit --policy practical --device cpu --gpu 3 --precision bf16 --fp32-precision tf32 --backend triton "
        "--num-correct-trials 7 --num-perf-trials 9 --timeout 11 --build-timeout 12 --budget 13 --weights transfer "
        "--domain any --min-isolation landlock"
    )

    kernelguard("check", *pair, *words.split(), engine=engine)

    problem, candidate, policy = engine.asked[0]
    assert (problem.source, candidate.source) == ("class Model: ...\n", "class ModelNew: ...\n")
    assert candidate.backend == "triton"
    assert (policy.mode, policy.rules, policy.device, policy.gpu) == (Mode.AUDIT, Rules.PRACTICAL, "cpu", 3)
    assert (policy.precision, policy.fp32_precision) == (Precision.BF16, Fp32Precision.TF32)
    assert (policy.num_correct_trials, policy.num_perf_trials, policy.budget_s) == (7, 9, 13.0)
    assert (policy.limits.timeout_s, policy.limits.build_timeout_s) == (11.0, 12.0)
    assert (policy.weights, policy.domain, policy.min_isolation) == ("transfer", "any", Isolation.LANDLOCK)


def test_json_is_the_only_thing_on_stdout(kernelguard: Command, pair: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """`kernelguard check --json | jq` must work."""
    kernelguard("check", *pair, "--json")

    record = json.loads(capsys.readouterr().out)
    assert record["reward_hardening"]["integrity_status"] == "PASS"


def test_output_is_the_same_record_and_replaces_what_was_there(
    kernelguard: Command, pair: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A half-written record under the final name would be read by somebody."""
    output = tmp_path / "new" / "record.json"
    output.parent.mkdir()
    output.write_text("old")

    kernelguard("check", *pair, "--json", "--output", str(output))

    assert output.read_text() == capsys.readouterr().out
    assert parse_record(output.read_text()).reward_hardening is not None
    assert [path.name for path in output.parent.iterdir()] == ["record.json"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--mode", "strict"], "--mode"),
        (["--device", "tpu"], "device='tpu'"),
        (["--num-perf-trials", "0"], "num_perf_trials=0"),
        (["--budget", "nan"], "budget_s=nan"),
        (["--wieghts", "seeded"], "--wieghts"),
        (["extra"], "extra"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    kernelguard: Command, pair: list[str], words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A usage screen hides the one word that was wrong."""
    assert kernelguard("check", *pair, *words, engine=ScriptedEngine(AssertionError())) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith("kernelguard check: ")
    assert complaint in captured.err


@pytest.mark.parametrize("content", [None, b"\xff\xfe", "folder"])
def test_a_file_that_cannot_be_read_is_one_line_and_exit_code_2(
    kernelguard: Command, pair: list[str], content: bytes | str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The path that was typed wrong is what the user needs to see."""
    candidate = Path(pair[1])
    candidate.unlink()
    if content == "folder":
        candidate.mkdir()
    elif isinstance(content, bytes):
        candidate.write_bytes(content)

    assert kernelguard("check", *pair) == 2

    assert f"kernelguard check: candidate {candidate}: " in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_exit_code_2(kernelguard: Command, pair: list[str], tmp_path: Path) -> None:
    """Losing the record silently would lose the evaluation."""
    (tmp_path / "file").write_text("")

    assert kernelguard("check", *pair, "--output", str(tmp_path / "file" / "record.json")) == 2


@pytest.mark.parametrize(("error", "code"), [(ProblemError("no Model"), 2), (HostError("the device was lost"), 3)])
def test_a_broken_reference_and_a_broken_host_are_told_apart(
    kernelguard: Command, pair: list[str], error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """One is for the user to mend, the other for whoever runs the machine; neither rejects the candidate."""
    assert kernelguard("check", *pair, engine=ScriptedEngine(error)) == code

    assert capsys.readouterr().err == f"kernelguard check: {error}\n"


def test_off_runs_the_native_evaluation_and_verifies_nothing(
    kernelguard: Command, pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong candidate is a native result too, so the exit code is 0; but nothing may look verified."""
    engine = ScriptedEngine(AssertionError(), native=NativeResult(compiled=True, metadata={"correctness_issue": "mismatch"}))

    assert kernelguard("check", *pair, "--mode", "off", "--gpu", "1", "--json", engine=engine) == 0

    request, timeout_s = engine.requested[0]
    assert (request.device, request.measure_performance, request.num_perf_trials) == ("cuda:1", True, 100)
    assert timeout_s == 900.0
    record = json.loads(capsys.readouterr().out)
    assert "reward_hardening" not in record
    assert record["metadata"] == {"correctness_issue": "mismatch"}
