"""What is asked, and what was handed in."""

import hashlib
from dataclasses import dataclass


def digest_of(source: str) -> str:
    """SHA-256 of a source text, as `sha256:<hex>`."""
    return "sha256:" + hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """A task in KernelBench's form: source with `Model`, `get_inputs()` and `get_init_inputs()`.

    `level` and `problem_id` are 0 for a problem that stands outside the benchmark.
    """

    source: str
    name: str
    level: int = 0
    problem_id: int = 0

    @property
    def digest(self) -> str:
        """SHA-256 of the source."""
        return digest_of(self.source)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """An untrusted program that defines `ModelNew`, frozen as text. `backend` is what it declares to be written in."""

    source: str
    name: str
    backend: str = "cuda"
    entry: str = "ModelNew"

    @property
    def digest(self) -> str:
        """SHA-256 of the source; recorded before anything secret is drawn."""
        return digest_of(self.source)
