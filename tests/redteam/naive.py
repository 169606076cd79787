"""A naive evaluator, as many are in the field: one process imports the candidate, holds the answers and reads the clock.

It exists to show that the attacks of the corpus are no straw men. Every habit that an attack needs is one that was seen in a
published evaluator; `Habits` names them. Nothing in the product uses this file.

Served as a program, it reads one job a line on stdin, forks for each, and answers with what a naive grader would conclude.
"""

import gc
import importlib.util
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

import torch

SEED = 42
CHECKS = 5
WARMUPS = 3
TIMED = 20
DEADLINE_S = 120


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How this evaluator differs from the plainest one.

    `compare`: how outputs are judged. `order`: who runs first on the shared inputs. `settle_s`: how long after the call the
    output is read. `channel`: where the grader takes the result from. `timing_inputs`: one input again and again, or a list
    made beforehand. `skip_errors`: a timed call that raises is left out of the statistics. `flush`: the second-level cache is
    overwritten before each timed call. `device`: `cuda` is timed by events, as KernelBench does it.
    """

    compare: str = "allclose"
    order: str = "reference_first"
    settle_s: float = 0.0
    channel: str = "stdout"
    timing_inputs: str = "repeated"
    skip_errors: bool = False
    flush: bool = False
    device: str = "cpu"


# ------------------------------------------------------------------------------------- the process that runs everything


def load(path: str, name: str) -> ModuleType:
    """Import a file under a name that everybody can see."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def evaluate(problem_path: str, candidate_path: str, habits: Habits) -> dict[str, object]:
    """Check first, then time, all in this process; what is timed is never judged."""
    problem = load(problem_path, "problem")
    candidate = load(candidate_path, "candidate")
    torch.manual_seed(SEED)
    reference = problem.Model(*problem.get_init_inputs()).to(habits.device)
    torch.manual_seed(SEED)
    model = candidate.ModelNew(*problem.get_init_inputs()).to(habits.device)
    passed = []
    with torch.no_grad():
        for seed in range(SEED, SEED + CHECKS):
            passed += [check_correctness(problem, reference, model, seed, habits)]
        runtime = time_calls(problem, model, habits)
        reference_runtime = time_calls(problem, reference, habits)
    return {"correct": all(passed), "runtime_ms": runtime * 1e3, "reference_ms": reference_runtime * 1e3}


def check_correctness(problem: ModuleType, reference: object, model: object, seed: int, habits: Habits) -> bool:
    """One trial: reference and candidate on the very same tensors."""
    torch.manual_seed(seed)
    inputs = draw(problem, habits)
    if habits.order == "candidate_first":
        actual = model(*inputs)
        expected = as_doubles(reference(*inputs))
    else:
        expected = as_doubles(reference(*inputs))
        actual = model(*inputs)
    if habits.device == "cuda":
        torch.cuda.synchronize()
    time.sleep(habits.settle_s)
    return matches(actual, expected, habits.compare)


def draw(problem: ModuleType, habits: Habits) -> tuple[object, ...]:
    """Inputs on the device."""
    return tuple(item.to(habits.device) if isinstance(item, torch.Tensor) else item for item in problem.get_inputs())


def as_doubles(output: object) -> list[torch.Tensor]:
    """The outputs as fp64, so that the comparison itself does not round; the fp32 originals are freed."""
    return [value.double() for value in (output if isinstance(output, (tuple, list)) else (output,))]


def matches(actual: object, expected: list[torch.Tensor], compare: str) -> bool:
    """Whether the outputs are close enough, by one of the rules in use."""
    outputs = list(actual) if isinstance(actual, (tuple, list)) else [actual]
    if compare == "first_output":
        outputs, expected = outputs[:1], expected[:1]
    elif compare != "zip" and len(outputs) != len(expected):
        return False
    return all(RULES.get(compare, close)(value, wanted) for value, wanted in zip(outputs, expected, strict=False))


def close(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """torch.allclose in fp64 at the usual tolerance."""
    return torch.allclose(actual.double(), expected, atol=1e-4, rtol=1e-4)


def max_error(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Fail when the largest error is above the bound; NaN is not above anything."""
    return not bool((actual.double() - expected).abs().max() > 1e-4)


def matched_ratio(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """At least 99 % of the elements are close."""
    return torch.isclose(actual.double(), expected, atol=1e-4, rtol=1e-4).double().mean().item() >= 0.99


def sampled(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """64 elements at fixed places are close."""
    places = torch.linspace(0, expected.numel() - 1, 64, device=expected.device).long()
    return close(actual.reshape(-1)[places], expected.reshape(-1)[places])


def prefix(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """The first 1024 elements are close."""
    return close(actual.reshape(-1)[:1024], expected.reshape(-1)[:1024])


def as_float(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Everything is compared as fp32, integers too."""
    return torch.allclose(actual.float(), expected.float(), atol=1e-4, rtol=1e-4)


RULES = {"max_error": max_error, "matched_ratio": matched_ratio, "sampled": sampled, "prefix": prefix, "as_float": as_float}


def time_calls(problem: ModuleType, model: object, habits: Habits) -> float:
    """Median seconds of a call."""
    torch.manual_seed(SEED)
    count = TIMED if habits.timing_inputs == "listed" else 1
    listed = [draw(problem, habits) for _ in range(count)]
    time_one = time_on_card if habits.device == "cuda" else time_on_host
    ballast = torch.empty(256 << 20, dtype=torch.uint8, device=habits.device) if habits.flush else None
    gc.collect()
    for _ in range(WARMUPS):
        model(*listed[0])
    durations = []
    for turn in range(TIMED):
        if ballast is not None:
            ballast.zero_()
        try:
            durations.append(time_one(model, listed[turn % count]))
        except RuntimeError:
            if not habits.skip_errors:
                raise
    return statistics.median(durations)


def time_on_host(model: object, inputs: tuple[object, ...]) -> float:
    """Seconds by the host's clock."""
    start = time.perf_counter()
    model(*inputs)
    end = time.perf_counter()
    return end - start


def time_on_card(model: object, inputs: tuple[object, ...]) -> float:
    """Seconds between two events on the current stream."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    start.record()
    model(*inputs)
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3


# ------------------------------------------------------------------------------------- the grader around it


def grade(job: dict[str, object], habits: Habits) -> dict[str, object]:
    """Fork, let the child evaluate, and believe what it says."""
    folder = tempfile.mkdtemp(prefix="naive-")
    reader, writer = os.pipe()
    log = Path(folder, "log.txt")
    child = os.fork()
    if child == 0:
        os.close(reader)
        run_child(job, habits, folder, writer, log)
    os.close(writer)
    status = wait(child)
    with os.fdopen(reader, "rb") as pipe:
        os.set_blocking(reader, False)
        said = pipe.read() or b""
    return conclude(habits.channel, status, log.read_text(errors="replace"), said, Path(folder, "result.json"))


def run_child(job: dict[str, object], habits: Habits, folder: str, writer: int, log: Path) -> None:
    """Evaluate and report on every channel; the grader reads one of them. Never returns."""
    code = 1
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        os.closerange(3, writer)
        os.closerange(writer + 1, 256)
        os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.tempdir = folder
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        torch.set_num_threads(1)
        sys.argv = ["naive.py", str(job["problem"]), str(job["candidate"])]
        result = evaluate(str(job["problem"]), str(job["candidate"]), habits)
        report(result, writer)
        code = 1 if habits.channel == "exit_code" and not result["correct"] else 0
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    except BaseException as error:  # noqa: BLE001 - whatever happened, the child must not return into the server
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def report(result: dict[str, object], writer: int) -> None:
    """Say the result on stdout, on the pipe and in a file."""
    sys.stdout.write("RESULT " + json.dumps(result) + "\n")
    os.write(writer, json.dumps(result).encode() + b"\n")
    Path("result.json").write_text(json.dumps(result))


def wait(child: int) -> int:
    """The wait status; a child that takes too long is killed with its group."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def conclude(channel: str, status: int, log: str, said: bytes, file: Path) -> dict[str, object]:
    """What the grader believes: `accepted`, and the runtime it would publish."""
    ended_well = os.waitstatus_to_exitcode(status) == 0
    texts = {
        "stdout": [line.removeprefix("RESULT ") for line in log.splitlines() if line.startswith("RESULT ")],
        "pipe": said.decode(errors="replace").splitlines(),
        "file": [file.read_text()] if file.exists() else [],
        "exit_code": ['{"correct": true}'],
    }[channel]
    for text in texts:
        try:
            result = json.loads(text)
        except ValueError:
            continue
        if ended_well and isinstance(result, dict) and result.get("correct"):
            return {**result, "accepted": True, "log": log[-2000:]}
    return {"accepted": False, "log": log[-2000:]}


def serve() -> None:
    """One job a line, one answer a line, until stdin ends."""
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        job = json.loads(line)
        answers.write(json.dumps(grade(job, Habits(**job["habits"]))) + "\n")
        answers.flush()


def job_line(problem: Path, candidate: Path, habits: Habits) -> str:
    """A job as the server reads it."""
    return json.dumps({"problem": str(problem), "candidate": str(candidate), "habits": asdict(habits)}) + "\n"


if __name__ == "__main__":
    serve()
