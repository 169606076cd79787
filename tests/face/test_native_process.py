"""The native evaluation in a process of its own: whatever the candidate does to that process, a result comes back."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import kernelguard
from kernelbench.eval import KernelExecResult, eval_kernel_against_ref
from kernelguard.terms.errors import ProblemError

Evaluate = Callable[..., KernelExecResult]
SOURCES = Path(kernelguard.__file__).parents[1]


@pytest.fixture
def evaluate(reference: str) -> Evaluate:
    """The face's entry point on the CPU against the linear reference."""

    def run(candidate: str, **options: object) -> KernelExecResult:
        chosen = {"device": "cpu", "timing_method": "host_time"} | options
        return eval_kernel_against_ref(reference, candidate, **chosen)  # type: ignore[arg-type]

    return run


def test_a_segmentation_fault_costs_only_its_process(evaluate: Evaluate, honest: str) -> None:
    """Upstream dies with its candidate here."""
    result = evaluate(honest.replace("return x @", "import ctypes; ctypes.string_at(0)\n        return x @"))

    assert (result.compiled, result.correctness) == (True, False)
    assert "signal 11" in str(result.metadata["runtime_error"])
    assert "in forward" in str(result.metadata["process_log"])


def test_leaving_at_import_is_a_failed_compilation(evaluate: Evaluate) -> None:
    """Exit code 0 and a line on stdout that looks like a result are no result."""
    forged = json.dumps({"stage": "complete", "result": {"compiled": True, "correctness": True}, "error": None})

    result = evaluate(f"import os\nprint({forged!r}, flush=True)\nos._exit(0)")

    assert (result.compiled, result.correctness) == (False, False)
    assert result.metadata["compilation_error"] == "the evaluation process ended with exit code 0"


def test_what_was_known_before_a_crash_is_kept(evaluate: Evaluate, honest: str) -> None:
    """A candidate that is right once and then kills its process while being timed was right."""
    candidate = honest.replace(
        "return x @",
        "self.calls = getattr(self, 'calls', 0) + 1\n        if self.calls > 1: import os; os.abort()\n        return x @",
    )

    result = evaluate(candidate, measure_performance=True)

    assert (result.compiled, result.correctness, result.runtime) == (True, True, -1.0)
    assert "signal 6" in str(result.metadata["error_during_performance"])


@pytest.mark.slow
def test_a_hang_ends_at_the_deadline_with_upstreams_word_for_it(evaluate: Evaluate) -> None:
    """A batch must go on after a candidate that never comes back."""
    result = evaluate("while True: pass", timeout=10)

    assert not result.compiled
    assert result.metadata["error"] == "Evaluation timed out"
    assert result.metadata["compilation_error"] == "the evaluation process exceeded 10 s"


def test_prints_and_threads_left_behind_do_not_disturb(
    evaluate: Evaluate, honest: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Generated code prints a lot; a thread that never ends must not keep the result back."""
    noise = "import threading, time\nprint('{\"stage\": 1}')\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"

    result = evaluate(noise + honest)

    assert result.correctness
    assert result.reward_hardening is None
    assert capfd.readouterr().out == ""


def test_credentials_stay_out_of_the_candidates_environment(evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever generates kernels has keys in the environment, and candidates are strangers' code."""
    monkeypatch.setenv("SOME_API_KEY", "s3cret")

    result = evaluate("import os\nraise RuntimeError(os.environ.get('SOME_API_KEY', 'absent'))")

    assert result.metadata["compilation_error"] == "absent"


def test_a_broken_reference_raises(honest: str) -> None:
    """It is not the candidate's fault and must not be recorded as such."""
    with pytest.raises(ProblemError, match="ZeroDivisionError"):
        eval_kernel_against_ref("1 / 0", honest, device="cpu")


def test_a_bad_request_is_one_line_and_exit_code_2() -> None:
    """The process is also used by hand and by other programs, which need to know what to mend."""
    done = subprocess.run(
        [sys.executable, "-m", "kernelguard.native"],
        input='{"reference_src": "", "candidate_src": "", "num_perf_trials": 0}',
        capture_output=True,
        text=True,
        cwd=SOURCES,
        check=False,
        timeout=60,
    )

    reply = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 2
    assert reply["error"]["fault"] == "usage"
    assert reply["error"]["message"].startswith("request: num_perf_trials:")
