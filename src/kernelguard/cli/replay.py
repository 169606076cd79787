"""`kernelguard replay`: the evaluation that a record tells of, once more with the same plan."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from kernelguard.cli.engine import Engine
from kernelguard.cli.exit_codes import ExitCode
from kernelguard.cli.files import read_record_text, read_source
from kernelguard.cli.signature import takes
from kernelguard.cli.terminal import errors, printer
from kernelguard.reporting.choices import policy_from_json
from kernelguard.reporting.plain import safe_line, section, word
from kernelguard.reporting.record import RewardHardening, parse_record
from kernelguard.reporting.text import render
from kernelguard.terms.errors import UsageError
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem, digest_of
from kernelguard.terms.verdict import Integrity, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayOptions:
    """What the command line of `replay` holds."""

    record: Annotated[Path, typer.Argument(metavar="RECORD", help="A record with `extended` in it.")]
    reference: Annotated[Path | None, typer.Argument(metavar="REF", help="The reference, unless it lies where it lay.")] = None
    candidate: Annotated[Path | None, typer.Argument(metavar="CAND", help="The candidate, likewise.")] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    """What a record tells of its evaluation."""

    hardening: RewardHardening
    policy: Policy
    problem: Mapping[str, object]
    candidate: Mapping[str, object]
    host: Mapping[str, object]


@takes(ReplayOptions)
def replay(engine: Engine, options: ReplayOptions) -> int:
    """Evaluate again as a record says: same sources, same policy, same plan. Do status and codes repeat?

    A plan that was revealed is no secret any more: a replay explains a verdict, and awards nothing.
    Exit code: 0 they repeat, 1 they differ, 2 the record or the files don't fit, 3 it could not be judged here.
    """
    if (options.reference is None) != (options.candidate is None):
        raise UsageError("give both REF and CAND, or neither")
    told = _told(read_record_text(options.record))
    problem = _same_source(told.problem, options.reference, "reference", options.record.parent)
    candidate = _same_source(told.candidate, options.candidate, "candidate", options.record.parent)
    asked = Problem(source=problem, name=word(told.problem, "name"))
    accused = Candidate(source=candidate, name=word(told.candidate, "name"), backend=word(told.candidate, "backend") or "cuda")
    with engine.evaluator(told.policy.device, told.policy.gpu) as evaluate:
        verdict = evaluate(asked, accused, told.policy)
    for line in _changed(told.host, section(verdict.extended, "host")):
        errors().print(Text(f"kernelguard replay: {line}"))
    printer().print(_compared(told, verdict))
    return _exit_code(told.hardening, verdict)


def _told(text: str) -> _Told:
    hardening = parse_record(text).reward_hardening
    extended = (hardening.extended if hardening is not None else None) or {}
    seed = word(section(extended, "plan"), "seed")
    if hardening is None or not seed:
        raise UsageError("the record tells of no plan (extended.plan.seed): nothing was measured, so there is nothing to replay")
    return _Told(
        hardening=hardening,
        policy=policy_from_json({**section(extended, "policy"), "plan_seed": seed}),
        problem=section(extended, "problem"),
        candidate=section(extended, "candidate"),
        host=section(extended, "host"),
    )


def _same_source(told: Mapping[str, object], given: Path | None, what: str, beside: Path) -> str:
    """The text whose digest the record holds: of the file that was given, or of the one that the record names."""
    digest, name = word(told, "digest"), word(told, "name")
    if not digest:
        raise UsageError(f"the record holds no digest of the {what}")
    places = [given] if given is not None else [Path(name), beside / name]
    found = next((place for place in places if place.is_file()), None)
    if found is None and given is None:
        raise UsageError(f"the record's {what} {name} is not here; say where it is: kernelguard replay RECORD REF CAND")
    path = found or places[0]
    source = read_source(path, what)
    if digest_of(source) != digest:
        raise UsageError(f"{what} {path}: its digest {digest_of(source)[:19]}... is not the record's {digest[:19]}...")
    return source


def _changed(then: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """One warning for each thing that differs between the two hosts, such as the card or a version."""
    names = [name for name in then if name in now and then[name] != now[name]]
    return [f"warning: {safe_line(name)} was {word(then, name)} and is {word(now, name)} here" for name in names]


def _codes(hardening: RewardHardening) -> tuple[str, ...]:
    return tuple(sorted({finding.code for finding in hardening.findings}))


def _repeats(hardening: RewardHardening, verdict: Verdict) -> bool:
    return hardening.integrity_status is verdict.integrity and _codes(hardening) == verdict.codes


def _compared(told: _Told, verdict: Verdict) -> Group:
    then = f"{told.hardening.integrity_status.value} {' '.join(_codes(told.hardening)) or 'no findings'}"
    now = f"{verdict.integrity.value} {' '.join(verdict.codes) or 'no findings'}"
    if _repeats(told.hardening, verdict):
        outcome = Text(f"It repeats: {now}", style="bold green")
    else:
        outcome = Text(f"It does not repeat: {then} in the record, {now} now", style="bold red")
    return Group(render(verdict, told.policy), Text(), outcome)


def _exit_code(hardening: RewardHardening, verdict: Verdict) -> ExitCode:
    if _repeats(hardening, verdict):
        return ExitCode.VERIFIED
    return ExitCode.NOT_EVALUABLE if verdict.integrity is Integrity.UNSUPPORTED else ExitCode.REJECTED
