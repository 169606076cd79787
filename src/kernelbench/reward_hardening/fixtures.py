"""The red-team fixtures under their documented name: the corpus itself lives in `kernelguard.redteam.attacks`, as data."""

from kernelguard.redteam.corpus import ATTACKS, PROBLEMS, Case, load_case, load_corpus, select

__all__ = ["ATTACKS", "PROBLEMS", "Case", "cpu_fixtures", "load_case", "load_corpus", "select"]


def cpu_fixtures() -> tuple[Case, ...]:
    """The cases of the documented one-command CPU run."""
    return select(load_corpus(), groups=["seed"])
