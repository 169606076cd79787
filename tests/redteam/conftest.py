"""The corpus, once for all tests of the red team."""

import pytest

from kernelguard.redteam.corpus import Case, load_corpus

CASES = load_corpus()


@pytest.fixture(scope="session")
def cases() -> tuple[Case, ...]:
    """Every case of the corpus."""
    return CASES
