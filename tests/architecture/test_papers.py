"""The papers agree with the code and with each other: commands run, links lead somewhere, no code is undocumented."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kernelguard.terms.codes import CODES

ROOT = Path(__file__).resolve().parents[2]
READMES = ("README.md", "README.zh-CN.md")
FRAGMENT_KINDS = ("security", "removed", "deprecated", "added", "changed", "fixed")
FENCE = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMING = re.compile(r"^## (?:Coming next|即将推出)$", re.MULTILINE)
PLANNED = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PROGRAM = re.compile(r"\b(?:python3?|bash) ((?:scripts|tools|bench)/\S+)(.*)")


def _halves(readme: str) -> tuple[str, str]:
    """What a README says is here, and below the one heading that says so, what is still to come."""
    here, coming = COMING.split((ROOT / readme).read_text(encoding="utf-8"))
    return here, coming


def _commands(readme: str) -> list[str]:
    """The commands in a README's bash blocks above what is still to come."""
    return _lines(FENCE.findall(_halves(readme)[0]))


def _lines(blocks: list[str]) -> list[str]:
    """One command a line: continuation lines joined, comments and blanks left out."""
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    bare = (re.sub(r"\s+#.*$", "", line).strip() for line in lines if not line.lstrip().startswith("#"))
    return [re.sub(r"\s+", " ", line) for line in bare if line]


def _programs() -> dict[str, set[str]]:
    """Each script that README.md runs, with the names of all parameters it is given there."""
    programs: dict[str, set[str]] = {}
    for command in _commands("README.md"):
        if match := PROGRAM.search(command):
            words = match.group(2).split()
            names = {word.split("=")[0].lstrip("-") for word in words if "=" in word or word.startswith("--")}
            programs.setdefault(match.group(1), set()).update(names)
    return programs


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("program", sorted(_programs()))
def test_a_script_named_in_the_readme_runs_and_knows_its_parameters(program: str) -> None:
    """The README is copied into terminals; a command in it that has drifted from the code wastes a reader's first hour."""
    interpreter = "bash" if program.endswith(".sh") else sys.executable
    answer = _run([interpreter, program, "--help"])

    assert answer.returncode == 0, answer.stderr
    assert {name for name in _programs()[program] if name not in answer.stdout} == set()


@pytest.mark.parametrize(
    "subcommand", sorted({word for line in _commands("README.md") for word in re.findall(r"^uv run kernelguard (\S+)", line)})
)
def test_a_subcommand_named_in_the_readme_answers_help(subcommand: str) -> None:
    """`kernelguard` is the door that people use once the scripts have convinced them."""
    answer = _run([sys.executable, "-m", "kernelguard", subcommand, "--help"])

    assert answer.returncode == 0, answer.stderr


def test_the_readme_names_only_make_targets_that_exist() -> None:
    """`make demo` and `make test` are the first two things a newcomer types."""
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {word for command in _commands("README.md") for word in re.findall(r"\bmake ([a-z-]+)", command)}

    assert {"demo", "test"} <= named
    assert named - targets == set()


def test_both_readmes_give_the_same_commands() -> None:
    """A reader of either language must get the same behaviour from the same page."""
    english, chinese = (_commands(readme) for readme in READMES)

    assert english == chinese


def test_what_is_still_to_come_is_the_last_word_of_both_readmes_and_nothing_to_paste() -> None:
    """A command that does not exist yet may be announced, in one place, where nobody takes it for one that works."""
    english, chinese = (_halves(readme)[1] for readme in READMES)

    assert not re.search(r"^## ", english + chinese, re.MULTILINE)
    assert FENCE.findall(english) + FENCE.findall(chinese) == []
    assert _lines(PLANNED.findall(english)) == _lines(PLANNED.findall(chinese)) != []


def test_relative_links_lead_to_files_that_exist() -> None:
    """A limit that is documented behind a dead link is not documented."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tools").rglob("*.md")]
    dead = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not re.match(r"[a-z]+:|#", target) and not (page.parent / target.split("#")[0]).exists()
    ]

    assert dead == []


def test_every_finding_code_has_a_row_in_the_attack_catalog() -> None:
    """A person whose kernel was refused looks the code up there; a code without a row is a verdict without a reason."""
    rows = set(re.findall(r"^\|\s*\[?`?(RH-\d\d)", (ROOT / "docs/attack_catalog.md").read_text(encoding="utf-8"), re.MULTILINE))

    assert rows == set(CODES)


def test_changelog_fragments_carry_a_known_kind_and_one_line() -> None:
    """Fragments are merged into the changelog by kind; a misspelt kind would be lost without a word."""
    fragments = [path for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md"]
    odd = [
        path.name
        for path in fragments
        if path.suffixes[-2:-1] not in [[f".{kind}"] for kind in FRAGMENT_KINDS] or len(path.read_text().splitlines()) != 1
    ]

    assert odd == []
