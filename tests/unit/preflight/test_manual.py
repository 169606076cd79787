"""The page of rules says what the table says."""

from pathlib import Path

from kernelguard.preflight.backends import BACKENDS
from kernelguard.preflight.manual import render
from kernelguard.preflight.rules import RULES
from kernelguard.terms.codes import CODES

PAGE = Path(__file__).parents[3] / "docs/preflight_rules.md"


def test_the_page_is_up_to_date() -> None:
    """Regenerate it with `python -m kernelguard.preflight.manual > docs/preflight_rules.md`."""
    assert PAGE.read_text(encoding="utf-8") == render()


def test_every_rule_and_backend_has_a_row() -> None:
    """Somebody whose kernel was refused looks the rule up by its name."""
    page = render()

    assert [rule.name for rule in RULES if f"| `{rule.name}` | {rule.code} |" not in page] == []
    assert [name for name in BACKENDS if f"| `{name}` |" not in page] == []


def test_rules_have_names_of_their_own_and_codes_of_the_table() -> None:
    """Two rules of one name would share their findings."""
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert {rule.code for rule in RULES} <= set(CODES)
    assert [rule.name for rule in RULES if not (rule.honest and rule.gets_past and rule.says)] == []
