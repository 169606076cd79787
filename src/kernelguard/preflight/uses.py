"""Every use of a name from outside the file: who imports, reads, calls, writes or derives from it, and can forward get there.

Operators on tensors are uses too: `a @ b` calls `torch.Tensor.__matmul__`. A method of a value that nobody knows is `?.method`.
"""

import ast
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kernelguard.preflight.kinds import NOTHING, Kinds

UNKNOWN = object()  # an option whose value is no constant


class Role(enum.Enum):
    """What the candidate does with a name; the value reads as a verb in a summary."""

    IMPORT = "imports"
    READ = "refers to"
    CALL = "calls"
    WRITE = "assigns to"
    BASE = "derives from"
    DEFINE = "defines"
    UNUSED = "sets, and never reads,"
    KEEP = "remembers an input by"


@dataclass(frozen=True, kw_only=True, slots=True)
class Arguments:
    """What a use was given: the strings among the positional arguments, the constant keywords, the kinds of them all.

    Of a list that is written out, `texts` has the first element. A keyword whose value is no constant stands in `options` as
    UNKNOWN. An assignment has the option `value`.
    """

    texts: tuple[str | None, ...] = ()
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    kinds: Kinds = NOTHING

    @property
    def text(self) -> str | None:
        """The first positional argument, if it is a string that the file shows."""
        return self.texts[0] if self.texts else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """One use. `live`: a call of forward may get there. `device`: it stands in code that a kernel language compiles."""

    name: str
    role: Role
    node: ast.AST
    scope: int
    live: bool
    device: bool
    given: Arguments = field(default_factory=Arguments)

    @property
    def last(self) -> str:
        """The last word of the dotted name."""
        return self.name.rsplit(".", 1)[-1]

    @property
    def on_host_in_forward(self) -> bool:
        """Whether it is Python that runs while the clock does."""
        return self.live and not self.device
