"""Run the red team on the CPU: exit 0 when every decision is the expected one, 1 when one is not, 2 for a bad argument."""

import argparse
import sys
from pathlib import Path

from rich.console import Console

from kernelguard.redteam.corpus import Case, load_corpus, select
from kernelguard.redteam.drill import DEFAULT_TIMEOUT_S, DrillReport, Outcome, drill, to_json, to_summary_json, to_table
from kernelguard.redteam.judge import judge
from kernelguard.terms.errors import KernelGuardError
from kernelguard.terms.policy import Rules


def main(argv: list[str]) -> int:
    """Question the chosen cases, print the table, write the two files. Returns the exit code."""
    options = _options(argv)
    try:
        cases = _chosen(options)
        rules = [Rules(name) for name in options.policy or ()]
        with judge() as evaluate:
            report = drill(cases, evaluate, timeout_s=options.timeout, rules=rules, watch=_tell)
        _write(options.output, to_json(report))
        _write(options.summary_output, to_summary_json(report))
    except (KernelGuardError, OSError) as error:
        print(f"reward_hardening_redteam: {error}", file=sys.stderr)
        return 2
    _show(report)
    return 0 if report.agreed else 1


def _chosen(options: argparse.Namespace) -> tuple[Case, ...]:
    if options.all:
        return load_corpus()
    groups = options.group if options.group or options.case else ["seed"]
    return select(load_corpus(), groups=groups or (), names=options.case or ())


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="path for the complete result as JSON")
    parser.add_argument("--summary-output", type=Path, help="path for the compact summary as JSON")
    parser.add_argument("--timeout", type=_positive, default=DEFAULT_TIMEOUT_S, help="seconds for each disposable worker (2.0)")
    parser.add_argument("--group", action="append", help="seed (the default), quick, demo or slow; may be given again")
    parser.add_argument("--case", action="append", help="the name of a case; may be given again")
    parser.add_argument("--all", action="store_true", help="the whole corpus instead of a group")
    parser.add_argument(
        "--policy",
        action="append",
        choices=[rules.value for rules in Rules],
        help="under this policy, may be given again; without it each case runs once, where its expectation is hardest to meet",
    )
    return parser.parse_args(argv)


def _positive(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: must be a positive number of seconds")
    return seconds


def _write(path: Path | None, text: str) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")


def _tell(outcome: Outcome) -> None:
    """One line for each evaluation as it ends, on standard error: the table comes at the end."""
    name = f"{outcome.case.name} ({outcome.rules.value})"
    print(f"{name}: {outcome.status} {outcome.complaint or 'as expected'}", file=sys.stderr, flush=True)


def _show(report: DrillReport) -> None:
    Console(width=None if sys.stdout.isatty() else 160).print(to_table(report))
    agreed = sum(outcome.agreed for outcome in report.outcomes)
    print(f"{agreed} of {len(report.outcomes)} decisions as expected, {len(report.skipped)} skipped, {report.seconds:.1f} s")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
