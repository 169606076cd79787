"""The corpus: one folder a case, `candidate.py` beside `case.toml`; problems are shared. All of it is data and never imported.

A case says what it threatens, how, and what must be decided about it. Honest twins stand in the same place and expect PASS.
"""

import enum
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kernelguard.terms.codes import CODES
from kernelguard.terms.errors import UsageError
from kernelguard.terms.policy import Rules
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Integrity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found]

ROOT = Path(__file__).parent
ATTACKS = ROOT / "attacks"
PROBLEMS = ROOT / "problems"

Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Sentence = Annotated[str, Field(min_length=12, pattern=r"^[^\n]+$")]
ExploitId = Annotated[str, Field(pattern=r"^[TCIPEMSB]\d\d$")]
Code = Annotated[str, Field(pattern=r"^RH-\d\d$")]


class Layer(enum.Enum):
    """Which part of an evaluator is attacked: the headings of the exploit catalogue."""

    TIMING = "timing"
    CORRECTNESS = "correctness"
    REPLAY = "replay"
    PRECISION = "precision"
    ENVIRONMENT = "environment"
    MEMORY = "memory"
    STATISTICS = "statistics"
    BASELINE = "baseline"


class Case(BaseModel):
    """One attack or honest twin, as its `case.toml` states it.

    `ids` are entries of the exploit catalogue; a twin carries those of its family. `policy` lists the rules under which the
    expectation holds. `expect` is PASS, REJECT (FAIL or SUSPICIOUS), or an exact status. Of `codes` at least one must be found;
    `codes_by_policy` replaces them for one set of rules. `needs` names what the host must have for the case to run at all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Word
    folder: Path
    threat: Sentence
    mechanism: Sentence
    ids: tuple[ExploitId, ...] = Field(min_length=1)
    layer: Layer
    group: tuple[Literal["seed", "quick", "demo", "slow"], ...] = ()
    problem: Word
    backend: Word
    policy: tuple[Rules, ...] = Field(min_length=1)
    expect: Literal["PASS", "REJECT", "SUSPICIOUS", "FAIL", "UNSUPPORTED"]
    codes: tuple[Code, ...] = ()
    codes_by_policy: Mapping[Rules, tuple[Code, ...]] = Field(default_factory=dict)
    needs: tuple[Literal["cuda", "triton", "cc", "cxx", "nvcc", "landlock", "x86_64"], ...] = ()
    twin: Word
    gets_past: Sentence

    @model_validator(mode="after")
    def _agree(self) -> "Case":
        """An attack names the codes that must be found, a twin none; codes are those of the one table."""
        wanted = {*self.codes, *(code for codes in self.codes_by_policy.values() for code in codes)}
        if unknown := sorted(wanted - set(CODES)):
            raise ValueError(f"unknown finding code {unknown[0]}")
        if self.honest == bool(wanted):
            raise ValueError("expect PASS goes with no codes, every other expectation with at least one")
        if stray := sorted(rules.value for rules in set(self.codes_by_policy) - set(self.policy)):
            raise ValueError(f"codes_by_policy names {stray[0]}, which is not in policy")
        return self

    @property
    def honest(self) -> bool:
        """True for a twin, which must pass."""
        return self.expect == "PASS"

    @property
    def device(self) -> str:
        """Where the case runs."""
        return "cuda" if "cuda" in self.needs else "cpu"

    def codes_for(self, rules: Rules) -> tuple[str, ...]:
        """The codes of which at least one must be found under these rules; empty for a twin."""
        return self.codes_by_policy.get(rules, self.codes)

    def expects(self, integrity: Integrity) -> bool:
        """Whether this status is the expected one. REJECT is not met by UNSUPPORTED: there nothing was caught."""
        if self.expect == "REJECT":
            return integrity in {Integrity.FAIL, Integrity.SUSPICIOUS}
        return integrity.value == self.expect

    def candidate(self) -> Candidate:
        """The program that is handed in."""
        return Candidate(source=_text(self.folder / "candidate.py"), name=self.name, backend=self.backend)

    def asked(self) -> Problem:
        """The problem that it claims to solve."""
        return Problem(source=_text(PROBLEMS / f"{self.problem}.py"), name=self.problem)


def load_case(folder: Path) -> Case:
    """Read and check one folder. Raises UsageError with one line: which file, which field, what is wrong."""
    path = folder / "case.toml"
    try:
        stated = tomllib.loads(_text(path))
        case = Case.model_validate({**stated, "name": folder.name, "folder": folder}, strict=False)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {_first_complaint(error)}") from error
    for needed in (folder / "candidate.py", PROBLEMS / f"{case.problem}.py"):
        if not needed.is_file():
            raise UsageError(f"{path}: there is no {needed.name} in {needed.parent.name}/")
    return case


def load_corpus(root: Path = ATTACKS) -> tuple[Case, ...]:
    """Every case, by name. Raises UsageError for the first one that is not well-formed, or whose twin does not exist."""
    cases = tuple(load_case(folder) for folder in sorted(root.iterdir()) if (folder / "case.toml").is_file())
    by_name = {case.name: case for case in cases}
    for case in cases:
        other = by_name.get(case.twin)
        if other is None or other.honest == case.honest:
            wanted = "an attack" if case.honest else "an honest case"
            raise UsageError(f"{case.folder / 'case.toml'}: twin {case.twin!r} is not {wanted} of this corpus")
    return cases


def select(cases: Iterable[Case], *, groups: Iterable[str] = (), names: Iterable[str] = ()) -> tuple[Case, ...]:
    """The cases of these groups and names, all of them when neither is given. Raises UsageError for a name that is not there."""
    cases, groups, names = tuple(cases), set(groups), set(names)
    known = {case.name for case in cases} | {group for case in cases for group in case.group}
    if unknown := sorted((groups | names) - known):
        raise UsageError(f"{unknown[0]!r} is neither a case nor a group of the corpus")
    if not groups | names:
        return cases
    return tuple(case for case in cases if case.name in names or groups & set(case.group))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error})") from error


def _first_complaint(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"]) or "case"
    return f"{place}: {re.sub(r'^Value error, ', '', first['msg'])}"
