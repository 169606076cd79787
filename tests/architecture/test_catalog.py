"""The catalog of attacks is the corpus, told once more for readers: neither may say what the other does not."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kernelguard.redteam.corpus import Case, load_corpus
from kernelguard.terms.codes import CODES

TOOL = "tools/make_catalog.py"


@pytest.fixture(scope="module")
def tool(root: Path) -> ModuleType:
    """The generator, loaded from its file: tools/ is no package."""
    spec = importlib.util.spec_from_file_location("make_catalog", root / TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def cases() -> tuple[Case, ...]:
    """The corpus as it is."""
    return load_corpus()


def test_both_pages_are_what_the_corpus_says_now(root: Path) -> None:
    """A case that was added, or weakened, without its page changing would be a claim that nobody reviewed."""
    answer = subprocess.run([sys.executable, TOOL, "--check"], cwd=root, capture_output=True, text=True, check=False, timeout=60)

    assert answer.returncode == 0, answer.stderr


def test_every_case_has_one_row_among_the_red_team_s_cases(root: Path, cases: tuple[Case, ...]) -> None:
    """A case that no page lists is a promise that nobody can look up."""
    rows = re.findall(r"^\| \[(\w+)\]", (root / "docs/redteam_tests.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(rows) == sorted(case.name for case in cases)


def test_the_summary_leads_to_a_section_of_every_code(root: Path) -> None:
    """The table of codes is where a reader lands; a link in it that goes nowhere hides what gets past."""
    text = (root / "docs/attack_catalog.md").read_text(encoding="utf-8")
    headings = {re.sub(r"[^\w\s-]", "", line).lower().replace(" ", "-") for line in re.findall(r"^## (.+)$", text, re.MULTILINE)}
    targets = re.findall(r"^\| \[RH-\d\d\]\(#([^)]+)\)", text, re.MULTILINE)

    assert len(targets) == len(CODES)
    assert set(targets) == headings


def test_an_attack_stands_under_every_code_that_it_may_be_found_by_and_an_honest_twin_under_none(
    tool: ModuleType, cases: tuple[Case, ...]
) -> None:
    """Readers count attacks per code; a twin among them would read as a cheat, a missing attack as a gap."""
    sections = re.split(r"^## (RH-\d\d):.*$", tool.attack_catalog(cases), flags=re.MULTILINE)[1:]
    listed = {(code, name) for code, body in zip(sections[::2], sections[1::2], strict=True)
              for name in re.findall(r"^\| \[(\w+)\]", body, re.MULTILINE)}  # fmt: skip
    wanted = {(code, case.name) for case in cases for rules in case.policy for code in case.codes_for(rules)}

    assert listed == wanted


def test_a_page_that_was_edited_by_hand_is_noticed(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The check is what keeps the pages true; one that is satisfied by anything would keep nothing."""
    monkeypatch.setattr(tool, "DOCS", tmp_path)

    assert tool.main([]) == 0
    assert tool.main(["--check"]) == 0
    page = tmp_path / "attack_catalog.md"
    page.write_text(page.read_text(encoding="utf-8") + "One more claim.\n", encoding="utf-8")
    assert tool.main(["--check"]) == 1
    assert "attack_catalog.md" in capsys.readouterr().err
