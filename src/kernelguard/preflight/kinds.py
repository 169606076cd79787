"""What an expression of a candidate may be, as far as its text tells. An empty set of kinds means: nobody knows."""

import enum
from collections.abc import Iterable
from typing import NamedTuple


class Tag(enum.Enum):
    """The sorts of value that the rules tell apart; `Kind.name` says which one."""

    NAME = "a name from outside the file: its dotted path, `open`, `torch.mm`, `torch.Tensor.sum`"
    OBJECT = "an object made by calling such a name, `torch.cuda.Event`"
    LAYER = "an object of a torch.nn class: its dotted path"
    TENSOR = "a tensor; the name is `input` where it derives from an argument of forward"
    IDENTITY = "an address, id, version or sampled content of an input"
    PLAIN = "a number, a shape, a string that is no text of the file: never a tensor"
    TEXT = "a string in the file: its index among the texts"
    DECODED = "bytes that a decoder made"
    SETTING = "the value of an environment variable: its name"
    FUNCTION = "a function of the file: the index of its scope"
    METHOD = "a function of the file, bound: its first parameter is taken"
    CLASS = "a class of the file: the index of its scope"
    INSTANCE = "an object of a class of the file: the index of the class"
    SUPER = "super() inside a class of the file: the index of the class"
    KERNEL = "a device function of a kernel language: the index of its scope"
    LAUNCHER = "a kernel with its grid: calling it is a launch"
    EXTENSION = "compiled native code: the index of the call that compiles it"
    NATIVE = "one function of compiled native code: `<extension>:<name>`"


class Kind(NamedTuple):
    """One possibility. `boxed` means: a container, of any sort and depth, that holds it."""

    tag: Tag
    name: str = ""
    boxed: bool = False


Kinds = frozenset[Kind]
_ROWS = (Tag.TENSOR, Tag.PLAIN, Tag.IDENTITY)

NOTHING: Kinds = frozenset()
PLAIN: Kinds = frozenset({Kind(Tag.PLAIN)})
TENSOR: Kinds = frozenset({Kind(Tag.TENSOR)})
INPUT: Kinds = frozenset({Kind(Tag.TENSOR, "input")})
IDENTITY: Kinds = frozenset({Kind(Tag.IDENTITY)})


def one(tag: Tag, name: str | int = "") -> Kinds:
    """The set with this one kind."""
    return frozenset({Kind(tag, str(name))})


def box(kinds: Iterable[Kind]) -> Kinds:
    """The kinds of a container that holds these."""
    return frozenset(Kind(kind.tag, kind.name, boxed=True) for kind in kinds)


def unbox(kinds: Iterable[Kind]) -> Kinds:
    """The kinds of an element: what a container holds, a row of a tensor, a number of a shape, and nothing for the rest."""
    return frozenset(Kind(kind.tag, kind.name) for kind in kinds if kind.boxed or kind.tag in _ROWS)


def only(kinds: Iterable[Kind], *tags: Tag) -> Kinds:
    """Those of the kinds that have one of the tags, boxed or not."""
    return frozenset(kind for kind in kinds if kind.tag in tags)


def names(kinds: Iterable[Kind], tag: Tag) -> list[str]:
    """The names of the kinds with this tag that are not boxed, sorted."""
    return sorted(kind.name for kind in kinds if kind.tag is tag and not kind.boxed)


def derived_tensor(kinds: Iterable[Kind]) -> Kinds:
    """The tensor that an operation makes of these: an input's if one of them is an input."""
    return INPUT if any(kind.tag is Tag.TENSOR and kind.name for kind in kinds) else TENSOR


def surely_tensor(kinds: Kinds) -> bool:
    """True when it can be nothing but a tensor; mixtures with numbers are nobody's proof."""
    return bool(kinds) and all(kind.tag is Tag.TENSOR and not kind.boxed for kind in kinds)
