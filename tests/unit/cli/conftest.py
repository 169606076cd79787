"""A command line with a scripted evaluator behind it: what is tested is the door, not the judge."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from kernelguard.cli.app import run
from kernelguard.cli.engine import Engine
from kernelguard.native.messages import NativeRequest, NativeResult
from kernelguard.terms.findings import Capability, CapabilityStatus, Finding, Severity
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Integrity, Native, Verdict

SEED = "ab" * 32
HOST = {"device": "NVIDIA H200", "torch": "2.11"}


def make_verdict(integrity: Integrity, *codes: str, **extended: object) -> Verdict:
    """A verdict as the engine gives it after it has measured."""
    passed = integrity is Integrity.PASS
    return Verdict(
        integrity=integrity,
        verified_correctness=passed,
        verified_runtime_ms=0.25 if passed else None,
        findings=tuple(Finding(code=code, detector="RH-TEST", severity=Severity.ERROR, summary="seen") for code in codes),
        native=Native(compiled=True, correctness=passed, runtime_ms=0.25, ref_runtime_ms=0.5),
        extended={"plan": {"seed": SEED}, "host": HOST, **extended},
    )


@dataclass
class ScriptedEngine:
    """Answers with `verdict` (or raises it), and keeps what it was asked."""

    verdict: Verdict | Exception = field(default_factory=lambda: make_verdict(Integrity.PASS))
    native: NativeResult | Exception = field(default_factory=NativeResult)
    capabilities: tuple[Capability, ...] = ()
    available: frozenset[str] = frozenset({"cc"})
    asked: list[tuple[Problem, Candidate, Policy]] = field(default_factory=list)
    requested: list[tuple[NativeRequest, float]] = field(default_factory=list)

    def engine(self) -> Engine:
        """The Engine that a command is given."""
        return Engine(
            evaluator=lambda _device, _gpu: nullcontext(self._evaluate),
            run_native=self._run_native,
            examine=lambda _device, _gpu: self.capabilities,
            available=lambda: self.available,
        )

    def _evaluate(self, problem: Problem, candidate: Candidate, policy: Policy) -> Verdict:
        self.asked.append((problem, candidate, policy))
        if isinstance(self.verdict, Exception):
            raise self.verdict
        named = {
            "problem": {"name": problem.name, "digest": problem.digest},
            "candidate": {"name": candidate.name, "digest": candidate.digest, "backend": candidate.backend},
        }
        return replace(self.verdict, extended={**named, **self.verdict.extended})

    def _run_native(self, request: NativeRequest, timeout_s: float) -> NativeResult:
        self.requested.append((request, timeout_s))
        if isinstance(self.native, Exception):
            raise self.native
        return self.native


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    """A reference and a candidate file, as two words of a command line."""
    (tmp_path / "reference.py").write_text("class Model: ...\n")
    (tmp_path / "candidate.py").write_text("class ModelNew: ...\n")
    return [str(tmp_path / "reference.py"), str(tmp_path / "candidate.py")]


@pytest.fixture
def kernelguard() -> Callable[..., int]:
    """Run `kernelguard <words>` against a scripted engine and give the exit code."""

    def command(*words: str, engine: ScriptedEngine | None = None) -> int:
        return run(list(words), (engine or ScriptedEngine()).engine())

    return command


def capability(name: str, status: CapabilityStatus, *, required: bool = True) -> Capability:
    """A capability with a detail."""
    return Capability(name=name, status=status, required=required, detail=f"about {name}")
