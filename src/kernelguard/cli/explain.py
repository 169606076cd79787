"""`kernelguard explain RH-09`: what a finding code means, what to do about it, and what gets past its detectors."""

import difflib
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from kernelguard.cli.engine import Engine
from kernelguard.cli.signature import takes
from kernelguard.cli.terminal import printer
from kernelguard.reporting.text import titled
from kernelguard.terms.codes import CODES, Code
from kernelguard.terms.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainOptions:
    """What the command line of `explain` holds."""

    code: Annotated[str, typer.Argument(metavar="CODE", help="A finding code, such as RH-09. Without one: all of them.")] = ""


@takes(ExplainOptions)
def explain(engine: Engine, options: ExplainOptions) -> int:  # noqa: ARG001 - every command takes an engine; this one needs none
    """Explain a finding code, or list them all."""
    printer().print(_explained(_find(options.code)) if options.code else _listed())
    return 0


def _find(asked: str) -> Code:
    code = CODES.get(asked.upper())
    if code is not None:
        return code
    by_name = {one.name: one.code for one in CODES.values()}
    near = difflib.get_close_matches(asked.upper(), CODES, n=1, cutoff=0.5) or [
        by_name[name] for name in difflib.get_close_matches(asked.lower(), by_name, n=1, cutoff=0.4)
    ]
    hint = f"did you mean {near[0]} ({CODES[near[0]].name})?" if near else "kernelguard explain lists all codes"
    raise UsageError(f"no finding code {asked!r}; {hint}")


def _explained(code: Code) -> Group:
    return Group(
        Text.assemble((code.code, "bold"), f" {code.name}"),
        *titled("What it means", [Text(code.meaning)]),
        *titled("Examples", [Text(code.examples)]),
        *titled("What to do", [Text(code.remediation)]),
        *titled("What gets past the detectors", [Text(code.gets_past)]),
    )


def _listed() -> Table:
    table = Table.grid(padding=(0, 2))
    for code in CODES.values():
        table.add_row(Text(code.code, style="bold"), code.name)
    return table
