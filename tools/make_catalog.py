"""Write docs/attack_catalog.md and docs/redteam_tests.md from the table of codes and the corpus, which they must agree with.

    python tools/make_catalog.py           # write both pages
    python tools/make_catalog.py --check   # write nothing; exit 1 when a page is out of date

What a case says of itself is taken over word for word, so that a page can't claim what no case states.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernelguard.redteam.corpus import Case, Layer, load_corpus
from kernelguard.terms.codes import CODES, Code
from kernelguard.terms.errors import UsageError
from kernelguard.terms.policy import Rules

DOCS = Path(__file__).resolve().parent.parent / "docs"
CASES = "../src/kernelguard/redteam/attacks"
GENERATED = "<!-- Written by tools/make_catalog.py from the table of codes and the corpus. Change those and run it again. -->"
CATALOG_INTRODUCTION = """\
Every finding carries one of these codes; `kernelguard explain RH-09` prints the same text. *Attacks* counts the cases of the
corpus that name the code among those of which at least one must be found: an attack may show in several ways, and then stands
under several codes. How the detectors work is in the [guide](reward_hardening.md), every case in
[redteam_tests.md](redteam_tests.md)."""
TESTS_INTRODUCTION = """\
{all} cases: {attacks} attacks, which must be rejected, and {honest} honest twins, which must pass. {gpu} of them need a GPU.
Each is a folder with `candidate.py` and `case.toml`. This page says what each case *demands*; what a run decided is in the
file that it writes."""
HOW_TO_READ = """\
Without `--all`, `--group` or `--case` the script runs the group `seed`. *Expected* is the status: REJECT is met by FAIL and by
SUSPICIOUS, not by UNSUPPORTED. At least one of the codes must be found; where they depend on the policy, it has its own list.
A case whose needs the host does not meet is skipped, and counted as skipped."""
RUN_IT = """```bash
uv run python scripts/reward_hardening_redteam.py --all --output runs/redteam.json
uv run python scripts/reward_hardening_redteam.py --case {attack} --case {twin} --policy behaviour
```"""


def pages(cases: Sequence[Case]) -> dict[str, str]:
    """The text of both pages by file name."""
    return {"attack_catalog.md": attack_catalog(cases), "redteam_tests.md": redteam_tests(cases)}


def attack_catalog(cases: Sequence[Case]) -> str:
    """One row a code, then one section a code with the attacks that must be found under it, or under one of its neighbours."""
    attacks = [case for case in cases if not case.honest]
    rows = [
        _row(f"[{code.code}](#{_anchor(code)})", code.name, str(len(_under(code, attacks))), code.gets_past)
        for code in CODES.values()
    ]
    return _page(
        "# The attack catalog",
        GENERATED,
        CATALOG_INTRODUCTION,
        _table(("code", "name", "attacks", "what gets past"), rows),
        *(part for code in CODES.values() for part in _section(code, attacks)),
    )


def redteam_tests(cases: Sequence[Case]) -> str:
    """Every case by layer: what must be decided, under which rules, and what it needs."""
    honest = sum(case.honest for case in cases)
    on_gpu = sum(case.device == "cuda" for case in cases)
    attack = next(case for case in cases if not case.honest and not case.needs and Rules.BEHAVIOUR in case.policy)
    return _page(
        "# The red team's cases",
        GENERATED,
        TESTS_INTRODUCTION.format(all=len(cases), attacks=len(cases) - honest, honest=honest, gpu=on_gpu),
        RUN_IT.format(attack=attack.name, twin=attack.twin),
        HOW_TO_READ,
        *(part for layer in Layer for part in _layer(layer, cases)),
    )


def _section(code: Code, attacks: Sequence[Case]) -> Iterator[str]:
    yield f"## {code.code}: {code.name}"
    yield code.meaning
    yield _bullets((("Examples", code.examples), ("What to do", code.remediation), ("What gets past", code.gets_past)))
    found = _under(code, attacks)
    if found:
        rows = [_row(_link(case), case.threat, case.gets_past) for case in found]
        yield _table(("case", "what it does", "what gets past even so"), rows)
    else:
        yield "No case of the corpus names this code."


def _layer(layer: Layer, cases: Sequence[Case]) -> Iterator[str]:
    here = [case for case in cases if case.layer is layer]
    if here:
        yield f"## {layer.value.capitalize()}"
        head = ("case", "mechanism", "expected", "codes", "policies", "needs", "groups", "twin")
        yield _table(head, [_case_row(case) for case in here])


def _case_row(case: Case) -> str:
    policies = ", ".join(rules.value for rules in case.policy)
    return _row(
        _link(case), case.mechanism, case.expect, _codes(case), policies, ", ".join(case.needs), ", ".join(case.group), case.twin
    )


def _codes(case: Case) -> str:
    own = [f"{rules.value}: {', '.join(codes)}" for rules, codes in case.codes_by_policy.items()]
    return "; ".join([", ".join(case.codes), *own])


def _under(code: Code, attacks: Sequence[Case]) -> list[Case]:
    return [case for case in attacks if any(code.code in case.codes_for(rules) for rules in case.policy)]


def _link(case: Case) -> str:
    return f"[{case.name}]({CASES}/{case.name}/candidate.py)"


def _anchor(code: Code) -> str:
    """GitHub's rule for headings: lower case, spaces to hyphens, punctuation gone."""
    text = f"{code.code}: {code.name}".lower().replace(" ", "-")
    return "".join(letter for letter in text if letter.isalnum() or letter in "-_")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') or '-' for cell in cells)} |"


def _table(head: Sequence[str], rows: Sequence[str]) -> str:
    return "\n".join((_row(*head), f"|{' --- |' * len(head)}", *rows))


def _bullets(items: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- **{name}.** {_sentence(text)}" for name, text in items)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _page(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write or check both pages. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Write docs/attack_catalog.md and docs/redteam_tests.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is out of date")
    check = parser.parse_args(arguments).check
    try:
        wanted = pages(load_corpus())
    except UsageError as error:
        print(f"make_catalog: {error}", file=sys.stderr)
        return 2
    stale = [name for name, text in wanted.items() if not (DOCS / name).is_file() or (DOCS / name).read_text("utf-8") != text]
    for name in stale:
        if check:
            print(f"docs/{name} is out of date; run: python tools/make_catalog.py", file=sys.stderr)
        else:
            (DOCS / name).write_text(wanted[name], encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
