"""The evaluator's own processes killed or interrupted: it is the host's failure, nothing stays, and the next one works."""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from ending_bench import QUICK, Bench, until
from ending_programs import HONEST, PROBLEM, in_forward

from kernelguard.confinement.descendants import children_of, descendants, parent_of
from kernelguard.evaluation.candidate import evaluate
from kernelguard.supervision.host import Host
from kernelguard.supervision.lease import lease
from kernelguard.terms.errors import HostError
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem

SLEEPS = in_forward("time.sleep(60)")
ALL = 8  # fork server, referee, and for each side keeper, first process of the namespace, worker
GONE_S = 5.0


def _own(module: str) -> int:
    """The process id of this test's own trusted process, by the module that it runs."""
    named = [pid for pid in children_of(os.getpid()) if module.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(named) == 1
    return named[0]


def _kill_when_under_way(module: str) -> threading.Thread:
    def work() -> None:
        if until(lambda: len(descendants(os.getpid())) >= ALL, 20.0):
            time.sleep(0.5)
            os.kill(_own(module), signal.SIGKILL)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def _check_of(folder: Path, temp: Path) -> "subprocess.Popen[bytes]":
    """`kernelguard check` on a candidate that sleeps, as a process with a temp folder of its own."""
    (folder / "reference.py").write_text(PROBLEM)
    (folder / "candidate.py").write_text(SLEEPS)
    temp.mkdir()
    words = ["check", "reference.py", "candidate.py", "--device", "cpu", "--policy", "behaviour", "--json"]
    return subprocess.Popen(
        [sys.executable, "-m", "kernelguard", *words],
        cwd=folder, env=os.environ | {"TMPDIR": str(temp), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _stopped_by(process: "subprocess.Popen[bytes]", number: signal.Signals) -> tuple[int, set[int]]:
    """Send the signal in the middle of the evaluation; the exit code, and which of its processes still live."""
    assert until(lambda: len(descendants(process.pid)) >= ALL, 30.0)
    time.sleep(0.5)
    tree = descendants(process.pid)
    process.send_signal(number)
    code = process.wait(20.0)
    until(lambda: not any(map(parent_of, tree)), GONE_S)
    return code, {pid for pid in tree if parent_of(pid)}


@pytest.mark.parametrize("module", ["kernelguard.referee.serve", "kernelguard.worker.zygote"])
def test_a_trusted_process_that_was_killed_between_evaluations_is_replaced(bench: Bench, module: str) -> None:
    """A long batch survives an out-of-memory killer that took the wrong process."""
    bench.host.warm()
    victim = _own(module)
    os.kill(victim, signal.SIGKILL)
    assert until(lambda: not parent_of(victim))

    assert bench.passes(HONEST)


def test_a_referee_that_was_killed_is_the_hosts_failure_and_is_replaced(bench: Bench, patient: Policy) -> None:
    """A candidate is never blamed for what the host did, and the host goes on."""
    bench.host.warm()
    killer = _kill_when_under_way("kernelguard.referee.serve")

    with pytest.raises(HostError, match="referee"):
        bench.judge(SLEEPS, patient)

    killer.join()
    assert until(lambda: len(descendants(os.getpid())) <= 1)
    assert bench.passes(HONEST)


def test_an_interrupted_evaluation_leaves_a_host_that_can_be_used_again(bench: Bench, patient: Policy) -> None:
    """The referee's answer to the question that was broken off must not be taken for the answer to the next one."""
    bench.host.warm()
    timer = threading.Timer(2.0, _thread.interrupt_main)
    timer.start()

    with pytest.raises(KeyboardInterrupt):
        bench.judge(SLEEPS, patient)

    assert until(lambda: len(descendants(os.getpid())) <= 2)
    assert bench.passes(HONEST)


def test_ctrl_c_ends_everything_and_is_no_success(tmp_path: Path) -> None:
    """An operator who stops a run must not have to look for what it left."""
    temp = tmp_path / "temp"

    code, living = _stopped_by(_check_of(tmp_path, temp), signal.SIGINT)

    assert code == 130
    assert not living
    assert {path.name for path in temp.iterdir()} <= {"kernelguard-leases"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_supervisor_that_is_killed_leaves_no_process_and_the_next_one_its_files(
    tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduler ends jobs this way; the device must be free for the next job."""
    temp = tmp_path / "temp"

    code, living = _stopped_by(_check_of(tmp_path, temp), number)

    assert code not in (0, 1)
    assert not living
    monkeypatch.setattr("tempfile.tempdir", str(temp))
    with Host(device="cpu"):
        assert len(list(temp.glob("kernelguard-[0-9]*"))) == 1  # its own
    assert not list(temp.glob("kernelguard-[0-9]*"))


def test_two_hosts_take_turns_on_one_device(bench: Bench) -> None:
    """Two evaluations at once would measure each other."""
    passed: list[float] = []

    def other() -> None:
        with Host(device="cpu") as host:
            host.warm()
            started.set()
            evaluate(Problem(source=PROBLEM, name="sum"), Candidate(source=HONEST, name="other"), QUICK, host)
            passed.append(time.monotonic())

    started = threading.Event()
    thread = threading.Thread(target=other)
    with lease(bench.host.device_id, timeout_s=10.0):
        thread.start()
        assert started.wait(30.0)
        time.sleep(3.0)  # longer than an evaluation takes
        assert not passed
        freed = time.monotonic()
    thread.join(60.0)

    assert passed
    assert passed[0] > freed


def test_a_device_that_stays_taken_is_the_hosts_failure(temp: Path) -> None:
    """Waiting without an end looks like a hang; the message says which device it is."""
    assert temp.is_dir()

    with lease("card-7", timeout_s=1.0), pytest.raises(HostError, match="card-7 is in use"), lease("card-7", timeout_s=0.2):
        pass
