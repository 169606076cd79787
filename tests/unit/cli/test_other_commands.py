"""The small commands: what a code means, what a host can do, whether a verdict repeats."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.cli.conftest import SEED, ScriptedEngine, capability, make_verdict

import kernelguard as package
from kernelguard.terms.codes import CODES
from kernelguard.terms.findings import CapabilityStatus
from kernelguard.terms.verdict import Integrity

Command = Callable[..., int]
SRC = Path(package.__file__).parents[1]


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_can_be_explained(kernelguard: Command, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever was refused must learn why, what to do, and what the detectors do not see."""
    assert kernelguard("explain", code.lower()) == 0

    said = " ".join(capsys.readouterr().out.split())
    for words in (CODES[code].name, CODES[code].meaning, CODES[code].remediation, CODES[code].gets_past):
        assert " ".join(words.split()) in said


@pytest.mark.parametrize(("asked", "near"), [("RH-9", "RH-09"), ("rh09", "RH-09"), ("replay", "RH-05"), ("RH-99", "RH-09")])
def test_an_unknown_code_gets_a_near_one_and_exit_code_2(
    kernelguard: Command, asked: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody remembers how many digits there are."""
    assert kernelguard("explain", asked) == 2

    error = capsys.readouterr().err
    assert near in error
    assert len(error.splitlines()) == 1


def test_explain_without_a_code_lists_all(kernelguard: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """The list is how one finds the code to ask for."""
    assert kernelguard("explain") == 0

    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(CODES)


def test_doctor_names_what_is_missing_and_what_to_install(kernelguard: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """`UNSUPPORTED` without a remedy sends people to search engines."""
    engine = ScriptedEngine(
        capabilities=(
            capability("cuda_runtime", CapabilityStatus.UNSUPPORTED),
            capability("landlock", CapabilityStatus.SUPPORTED),
        )
    )

    assert kernelguard("doctor", engine=engine) == 3

    said = " ".join(capsys.readouterr().out.split())
    assert "UNSUPPORTED cuda_runtime required about cuda_runtime" in said
    assert "cuda_runtime: an NVIDIA driver and a CUDA build of PyTorch" in said
    assert "landlock: " not in said


def test_doctor_is_content_when_only_optional_things_are_missing(
    kernelguard: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing optional observation does not stop a verdict, so it must not stop a pipeline either."""
    engine = ScriptedEngine(capabilities=(capability("cgroup_memory", CapabilityStatus.PARTIAL, required=False),))

    assert kernelguard("doctor", "--device", "cpu", "--json", engine=engine) == 0

    examined = json.loads(capsys.readouterr().out)
    assert examined["ready"] is True
    assert examined["capabilities"]["cgroup_memory"]["status"] == "PARTIAL"
    assert "cgroup v2" in examined["capabilities"]["cgroup_memory"]["remedy"]


@pytest.fixture
def record(kernelguard: Command, pair: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The record of a rejected candidate."""
    path = tmp_path / "record.json"
    kernelguard(
        "check", *pair, "--timeout", "7", "--output", str(path), engine=ScriptedEngine(make_verdict(Integrity.FAIL, "RH-05"))
    )
    capsys.readouterr()
    return path


def test_a_replay_asks_again_with_the_same_plan_and_policy(
    kernelguard: Command, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dispute about a verdict is settled by the same questions, not by new ones."""
    engine = ScriptedEngine(make_verdict(Integrity.FAIL, "RH-05"))

    assert kernelguard("replay", str(record), engine=engine) == 0

    _, candidate, policy = engine.asked[0]
    assert candidate.source == "class ModelNew: ...\n"
    assert (policy.plan_seed, policy.limits.timeout_s) == (SEED, 7.0)
    assert "It repeats: FAIL RH-05" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("integrity", "codes", "code"),
    [(Integrity.PASS, (), 1), (Integrity.FAIL, ("RH-02",), 1), (Integrity.UNSUPPORTED, ("RH-14",), 3)],
)
def test_a_replay_that_decides_otherwise_says_so(
    kernelguard: Command, record: Path, integrity: Integrity, codes: tuple[str, ...], code: int
) -> None:
    """Same status with other codes is another verdict."""
    assert kernelguard("replay", str(record), engine=ScriptedEngine(make_verdict(integrity, *codes))) == code


def test_a_replay_elsewhere_warns_about_what_differs(
    kernelguard: Command, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another card or release may decide otherwise for honest reasons."""
    there = make_verdict(Integrity.FAIL, "RH-05", host={"device": "NVIDIA H100", "torch": "2.11"})

    kernelguard("replay", str(record), engine=ScriptedEngine(there))

    assert "device was NVIDIA H200 and is NVIDIA H100 here" in " ".join(capsys.readouterr().err.split())


def test_a_replay_of_another_file_is_refused(
    kernelguard: Command, record: Path, pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise an innocent file could be blamed, or a guilty one cleared, with somebody else's record."""
    Path(pair[1]).write_text("class ModelNew: pass\n")

    assert kernelguard("replay", str(record), *pair, engine=ScriptedEngine(AssertionError())) == 2

    assert "digest" in capsys.readouterr().err


@pytest.mark.parametrize(
    "missing", [("reward_hardening", "extended"), ("reward_hardening", "extended", "plan"), ("reward_hardening",)]
)
def test_a_replay_needs_a_record_that_measured_something(
    kernelguard: Command, record: Path, missing: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """A candidate that was refused unread, and a native result, have no plan that could be repeated."""
    stripped = json.loads(record.read_text())
    inner = stripped
    for name in missing[:-1]:
        inner = inner[name]
    del inner[missing[-1]]
    record.write_text(json.dumps(stripped))

    assert kernelguard("replay", str(record)) == 2
    assert "nothing to replay" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--help"], ["explain", "RH-09"], ["check", "--help"], ["--version"]])
def test_looking_something_up_is_quick_and_loads_no_torch(words: list[str]) -> None:
    """Half a second is the difference between a tool that is asked and one that is not."""
    program = "import sys; from kernelguard.cli import main; code = main(); sys.exit('torch' in sys.modules and 'torch' or code)"
    command = [sys.executable, "-c", program, *words]
    started = time.monotonic()

    ended = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(SRC)}, capture_output=True, text=True, check=False, timeout=60
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert time.monotonic() - started < 2.0  # 0.3 s on an idle machine; CI is never idle


def test_a_crash_of_ours_never_reads_as_a_rejected_candidate(tmp_path: Path) -> None:
    """Python's own exit code for a crash is 1, which here means: judged and refused."""
    program = (
        "import sys; from kernelguard.cli.exit_codes import prepare_process; prepare_process(); raise ZeroDivisionError('ours')"
    )

    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=tmp_path,
    )

    assert ended.returncode == 3
    assert "ZeroDivisionError: ours" in ended.stderr
