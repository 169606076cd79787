"""A host for endings, and the looks at what an evaluation leaves behind."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ending_programs import HONEST, PROBLEM

from kernelguard.confinement.descendants import descendants
from kernelguard.evaluation.candidate import evaluate
from kernelguard.supervision.host import Host
from kernelguard.terms.policy import Limits, Policy, Rules
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Integrity, Verdict

GIB = 1 << 30
SETTLE_S = 5.0
QUICK = Policy(
    rules=Rules.BEHAVIOUR,
    device="cpu",
    num_correct_trials=1,
    num_perf_trials=2,
    budget_s=20.0,
    limits=Limits(
        timeout_s=4.0, first_call_timeout_s=2.0, call_timeout_s=2.0, processes=64, host_memory_bytes=8 * GIB, file_bytes=1 << 20
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Aftermath:
    """What one evaluation left: its verdict, its time, and whatever was not there before."""

    verdict: Verdict
    seconds: float
    processes: frozenset[int]
    files: frozenset[str]

    @property
    def codes(self) -> set[str]:
        """The codes of all findings."""
        return {finding.code for finding in self.verdict.findings}

    @property
    def words(self) -> list[str]:
        """The findings, to read when an assertion fails."""
        return [f"{finding.code} {finding.detector}: {finding.summary}" for finding in self.verdict.findings]


class Bench:
    """A host, and `judge` to put one candidate after another on it."""

    def __init__(self, host: Host, temp: Path) -> None:
        self.host, self.temp = host, temp

    def judge(self, source: str, policy: Policy = QUICK) -> Aftermath:
        """Evaluate and look around afterwards."""
        self.host.warm()
        processes, files = _descendants(), self._files()
        started = time.monotonic()
        verdict = evaluate(Problem(source=PROBLEM, name="sum"), Candidate(source=source, name="ending"), policy, self.host)
        seconds = time.monotonic() - started
        until(lambda: _descendants() == processes)
        return Aftermath(
            verdict=verdict,
            seconds=seconds,
            processes=frozenset(_descendants() ^ processes),  # a trusted process that was lost counts as well
            files=frozenset(self._files() - files),
        )

    def passes(self, source: str = HONEST) -> bool:
        """True when the candidate passes. The clock of a noisy machine gets a second try."""
        return any(self.judge(source).verdict.integrity is Integrity.PASS for _ in range(2))

    def _files(self) -> set[str]:
        return {str(path.relative_to(self.temp)) for path in self.temp.rglob("*")} - {"kernelguard-leases"} - self._locks()

    def _locks(self) -> set[str]:
        return {str(path.relative_to(self.temp)) for path in self.temp.glob("kernelguard-leases/*")}


def _descendants() -> set[int]:
    return descendants(os.getpid())


def until(happened: Callable[[], bool], timeout_s: float = SETTLE_S) -> bool:
    """True as soon as `happened()` is, False at the deadline."""
    deadline = time.monotonic() + timeout_s
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
