"""What a rule of preflight is: a row of a table, with a check that turns facts into sightings."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kernelguard.preflight.extensions import Region
from kernelguard.preflight.source import Facts, Place
from kernelguard.preflight.uses import Role, Use
from kernelguard.terms.findings import Severity
from kernelguard.terms.policy import Policy

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
MAX_CONSTRUCT = 80
_TOUCHED = frozenset(Role) - {Role.DEFINE, Role.UNUSED, Role.KEEP}


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """One place where a rule applies. `severity` overrides the rule's own, up or down."""

    construct: str
    place: Place
    severity: Severity | None = None


Check = Callable[[Facts, Policy], Iterable[Sighting]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One row: what is said when it applies, how much it weighs under each policy, what it leaves alone and what it misses.

    A sentence about a finding is the construct, a colon, and `says`.
    """

    name: str
    code: str
    says: str
    honest: str
    gets_past: str
    check: Check
    strict: Severity = ERROR
    practical: Severity = ERROR

    @property
    def detector(self) -> str:
        """The name under which findings of this rule appear."""
        return "RH-PREFLIGHT-" + self.name.upper().replace("_", "-")


@dataclass(frozen=True, kw_only=True, slots=True)
class Watch:
    """A check that looks for names.

    In `names` a dotted name stands for itself and all below it, and `*.x` for every name that ends in `.x`. `native` is looked
    for in all C, C++ and CUDA text of the file, `reached` only in what forward can run.
    """

    names: frozenset[str] = frozenset()
    roles: frozenset[Role] = _TOUCHED
    native: re.Pattern[str] | None = None
    reached: re.Pattern[str] | None = None

    def __call__(self, facts: Facts, _policy: Policy) -> Iterator[Sighting]:
        """Every place where one of the names is used."""
        for use in facts.uses:
            if use.role in self.roles and self.matches(use.name):
                yield sighted(facts, use)
        if self.native is not None:
            yield from found_in(facts, facts.native_regions, self.native)
        if self.reached is not None:
            yield from found_in(facts, facts.reached_regions, self.reached)

    def matches(self, name: str) -> bool:
        """Whether a dotted name is one of those looked for."""
        if f"*.{name.rpartition('.')[2]}" in self.names:
            return True
        while name and name not in self.names:
            name = name.rpartition(".")[0]
        return bool(name)


_SIGNS = {
    "matmul": "@",
    "add": "+",
    "sub": "-",
    "mult": "*",
    "div": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "usub": "-",
    "invert": "~",
    "bitand": "&",
    "bitor": "|",
    "bitxor": "^",
    "lshift": "<<",
    "rshift": ">>",
}


def shown(name: str) -> str:
    """A name as a reader of the source would put it: operators by their sign, methods of unknown objects with a dot."""
    word = name.rsplit(".", 1)[-1].strip("_")
    if name.startswith("torch.Tensor.__") and word in _SIGNS:
        return f"the operator {_SIGNS[word]} on a tensor"
    return name.removeprefix("?")[:MAX_CONSTRUCT]


def sighted(facts: Facts, use: Use, severity: Severity | None = None) -> Sighting:
    """The sighting of one use."""
    return Sighting(construct=shown(use.name), place=facts.place(use.node), severity=severity)


def found_in(
    facts: Facts, regions: Iterable[Region], pattern: re.Pattern[str], severity: Severity | None = None
) -> Iterator[Sighting]:
    """The sightings of a pattern in native code."""
    for region in regions:
        for match in pattern.finditer(region.code):
            construct = " ".join(match.group().split()).rstrip("(< ")
            yield Sighting(construct=construct[:MAX_CONSTRUCT], place=facts.place_in(region, match.start()), severity=severity)


def uses_of(facts: Facts, watch: Watch) -> list[Use]:
    """The uses that a watch looks for, where a rule needs more than their names."""
    return [use for use in facts.uses if use.role in watch.roles and watch.matches(use.name)]


def free_call(words: str) -> re.Pattern[str]:
    """A pattern for a call of a free C function; `words` is the regular expression for its name. Members are left alone."""
    return re.compile(rf"(?<![\w.>:])(?:std::|::)?(?:{words})\s*\(")
