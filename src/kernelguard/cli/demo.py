"""`kernelguard demo`: an honest kernel and four cheats, judged on this machine."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from kernelguard.cli.engine import Engine
from kernelguard.cli.exit_codes import ExitCode
from kernelguard.cli.signature import takes
from kernelguard.cli.terminal import errors, printer
from kernelguard.redteam.corpus import Case, load_corpus, select
from kernelguard.redteam.drill import DrillReport, drill, to_table
from kernelguard.terms.verdict import Integrity

TIMEOUT_S = 60.0  # one worker: a cold compiler takes its time, and nobody shall wait longer for a demonstration
NOT_JUDGED = (Integrity.UNSUPPORTED.value, "ERROR")


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoOptions:
    """`demo` has no options."""


@takes(DemoOptions)
def demo(engine: Engine, options: DemoOptions) -> int:  # noqa: ARG001 - it has none
    """Judge an honest kernel and four cheats on this machine, on a GPU where there is one.

    Exit code: 0 the honest one passed and every cheat was rejected, 1 not so, 3 it could not be judged here.
    """
    available = engine.available()
    cases = demo_cases(select(load_corpus(), groups=["demo"]), available)
    with errors().status(f"Judging {len(cases)} candidates"), engine.evaluator(cases[0].device, 0) as evaluate:
        report = drill(cases, evaluate, timeout_s=TIMEOUT_S, available=available)
    printer().print(to_table(report))
    printer().print(_sentence(report))
    return _exit_code(report)


def demo_cases(cases: Sequence[Case], available: frozenset[str]) -> tuple[Case, ...]:
    """The cases for the best device at hand: those for CUDA where there is CUDA and such cases, the CPU's otherwise."""
    on_cuda = tuple(case for case in cases if case.device == "cuda" and set(case.needs) <= available)
    return on_cuda or tuple(case for case in cases if case.device == "cpu")


def _sentence(report: DrillReport) -> Text:
    lacks = sorted({need for item in report.skipped for need in item.lacks})
    if lacks:
        return Text(f"Not all could run: this machine lacks {', '.join(lacks)} (kernelguard doctor says what to install)")
    if report.agreed:
        return Text("The honest kernel passed, and every cheat was rejected.", style="bold green")
    return Text("Not every decision was the expected one.", style="bold red")


def _exit_code(report: DrillReport) -> ExitCode:
    if report.agreed and not report.skipped:
        return ExitCode.VERIFIED
    not_judged = report.skipped or any(outcome.status in NOT_JUDGED for outcome in report.outcomes)
    return ExitCode.NOT_EVALUABLE if not_judged else ExitCode.REJECTED
