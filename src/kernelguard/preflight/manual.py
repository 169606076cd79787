"""The page of rules for people: `docs/preflight_rules.md`, written from the tables and from nothing else."""

from kernelguard.preflight.backends import ALIASES, BACKENDS, NO_BACKEND
from kernelguard.preflight.rules import RULES

_HEAD = """# Preflight rules

Written from the tables in `src/kernelguard/preflight/` by `python -m kernelguard.preflight.manual > docs/preflight_rules.md`.

Preflight reads a candidate's source and never runs it: facts from the syntax tree and from C, C++ and CUDA text in strings, then
the rules below. Words in comments, docstrings, strings and names of the candidate's own count for nothing. Names are followed
through imports, aliases, attributes, containers, constant `getattr` and calls; "forward" means every function of the file that a
call of `ModelNew.forward` may reach, so `__init__` is free to use torch.

Under `enforce` an error ends the evaluation before the candidate is imported, under `audit` it is recorded. Under `practical` the
framework is a tool like any other; under `behaviour` no source is read at all. A rule may grade a single finding otherwise than
its row says, where the column "left alone" says "recorded".

What gets past all of them: names that the program puts together at run time, values that travel through files or exceptions,
tokens pasted by the preprocessor. The scan refuses early what is plain to see; the behavioural detectors hold without it.
"""


def render() -> str:
    """The whole page, ending in a line break."""
    aliases = ", ".join(f"`{alias}` is `{name}`" for alias, name in sorted(ALIASES.items()))
    none = ", ".join(f"`{name}`" for name in sorted(NO_BACKEND))
    return "\n".join(
        [
            _HEAD,
            "## Rules",
            "",
            "| rule | code | says | source_strict | practical | left alone | gets past |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *(
                _row(rule.name, rule.code, rule.says, rule.strict.value, rule.practical.value, rule.honest, rule.gets_past)
                for rule in RULES
            ),
            "",
            "The detector of a rule is `RH-PREFLIGHT-` and its name in capitals.",
            "Codes are explained in [reward_hardening.md](reward_hardening.md).",
            "",
            "## Backends",
            "",
            "| backend | a kernel is declared by | and launched by |",
            "| --- | --- | --- |",
            *(_row(name, row.declared, row.launched) for name, row in BACKENDS.items()),
            "",
            f"Aliases: {aliases}. A candidate that declares {none} has no kernel to show.",
            "",
        ]
    )


def _row(name: str, *cells: str) -> str:
    return f"| {' | '.join([f'`{name}`', *(cell.replace('|', chr(92) + '|') for cell in cells)])} |"


if __name__ == "__main__":
    print(render(), end="")  # noqa: T201 - a page on standard output is what this program makes
