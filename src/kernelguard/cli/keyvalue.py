"""Arguments of the form key=value, as KernelBench's scripts take them.

A script's parameters are one frozen dataclass with annotated fields: name, type, default and help stand in one place.

    level: Annotated[int, "the level of problems"]
    precision: Annotated[Literal["fp32", "bf16"], "what inputs are cast to"] = "fp32"

A field without default must be given. Types: str, int, float, bool, Literal, Enum, `X | None`, `tuple[X, ...]` and `tuple[X, Y]`.
A class attribute `SHORTCUTS = {"greedy": {"temperature": 0.0}}` makes `.greedy` an argument.
Values are read as literals and never evaluated; what does not fit is a UsageError of one line.
"""

import ast
import contextlib
import difflib
import enum
import json
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Annotated, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

from kernelguard.cli.exit_codes import ExitCode, guarded, prepare_process
from kernelguard.terms.errors import UsageError

T = TypeVar("T")
_TRUTH = {"T": True, "F": False}


def run_script(parameters: type[T], words: str, arguments: Sequence[str], work: Callable[[T], int]) -> int:
    """Read the arguments and do the work. `--help` describes them, `--show` prints what was read; both end with 0.

    `words` is the script's description; its first word is the name it calls itself in errors.
    """
    prepare_process()

    def read_and_work() -> int:
        if {"--help", "-h"} & set(arguments):
            print(describe(parameters, words))
            return ExitCode.VERIFIED
        given = read(parameters, [argument for argument in arguments if argument != "--show"])
        if "--show" in arguments:
            print("\n".join(f"{name}={_spelled(getattr(given, name))}" for name in _types(parameters)))
            return ExitCode.VERIFIED
        return work(given)

    return guarded(words.split(maxsplit=1)[0].rstrip(":"), read_and_work)


def read(parameters: type[T], arguments: Sequence[str]) -> T:
    """The parameters that `arguments` spell; the last of two values for one key wins.

    Raises:
        UsageError: an unknown key, a value of another type, a required key that is missing, something that is not key=value.
    """
    known = _types(parameters)
    shortcuts: Mapping[str, Mapping[str, object]] = getattr(parameters, "SHORTCUTS", {})
    values: dict[str, object] = {}
    for name, raw in _assignments(arguments):
        if name.startswith("."):
            values.update(shortcuts[_known(name[1:].removesuffix("()"), shortcuts, "shortcut")])
        else:
            kind = known[_known(name, known, "key")]
            values[name] = _converted(name, raw, kind)
    missing = [name for name in _required(parameters) if name not in values]
    if missing:
        raise UsageError(f"{missing[0]}=... is required: {_expected(known[missing[0]])} (--help lists all keys)")
    return parameters(**values)


def describe(parameters: type[object], words: str) -> str:
    """The text of `--help`: every key with its default, its type and its line."""
    required = _required(parameters)
    defaults = {field.name: field.default for field in fields(parameters)}  # type: ignore[arg-type]  # always a dataclass
    lines = [words, "", "key=value arguments:"]
    for name, (kind, text) in _annotations(parameters).items():
        shown = "required" if name in required else _spelled(defaults[name])
        lines.append(f"  {name}={shown}\n      {text} ({_expected(kind)})")
    return "\n".join([*lines, "", "Also: --list key a b c list--, --show (print what was read), --help"])


def parse_value(text: str) -> object:
    """A literal, T or F, a list of bare words, or else the text itself. Nothing is evaluated."""
    if text in _TRUTH:
        return _TRUTH[text]
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        if text[:1] == "[" and text[-1:] == "]":
            return [parse_value(item.strip()) for item in text[1:-1].split(",")]
        return text
    return value


def _assignments(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    rest = iter(arguments)
    for argument in rest:
        name, equals, raw = argument.partition("=")
        if argument == "--list":
            yield _listed(rest)
        elif argument.startswith("."):
            yield argument, ""
        elif argument.startswith("-") or not equals:
            raise UsageError(f"{argument!r}: arguments are key=value, as in level=1 (--help lists all keys)")
        else:
            yield name, raw


def _listed(rest: Iterator[str]) -> tuple[str, str]:
    words = []
    for word in rest:
        if word == "list--":
            break
        words.append(word)
    else:
        raise UsageError("--list has no list-- at its end: write --list key a b c list--")
    if not words:
        raise UsageError("--list names no key: write --list key a b c list--")
    return words[0], repr([parse_value(word) for word in words[1:]])


def _known(name: str, names: Mapping[str, object], what: str) -> str:
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    raise UsageError(f"unknown {what} {name!r}" + (f"; did you mean {near[0]!r}?" if near else " (--help lists all)"))


def _types(parameters: type[object]) -> dict[str, object]:
    return {name: kind for name, (kind, _) in _annotations(parameters).items()}


def _annotations(parameters: type[object]) -> dict[str, tuple[object, str]]:
    """Of each field its type and its line of help."""
    hints = get_type_hints(parameters, include_extras=True)
    return {name: (get_args(hint)[0], get_args(hint)[1]) for name, hint in hints.items() if get_origin(hint) is Annotated}


def _required(parameters: type[object]) -> list[str]:
    return [field.name for field in fields(parameters) if field.default is MISSING]  # type: ignore[arg-type]  # always a dataclass


def _converted(name: str, raw: str, kind: object) -> object:
    """What `raw` spells as `kind`: the literal, the text as it was typed (`run_name=007`), or a list of that one item."""
    adapter: TypeAdapter[object] = TypeAdapter(kind)  # type: ignore[arg-type]  # a type known only when it runs
    value = parse_value(raw)
    for spelled in (value, raw, [value]):
        with contextlib.suppress(ValueError, TypeError):  # the next spelling may fit; if none does, it is said below
            return adapter.validate_json(json.dumps(spelled, allow_nan=False), strict=True)
    raise UsageError(f"{name}={raw}: must be {_expected(kind)}")


def _expected(kind: object) -> str:
    inner = get_args(kind)
    if get_origin(kind) in (Union, types.UnionType):
        return f"{_expected(inner[0])}, or None"
    if get_origin(kind) is tuple:
        return f"a list of {_expected(inner[0])}" if inner[-1] is Ellipsis else f"({', '.join(map(_expected, inner))})"
    if get_origin(kind) is Literal:
        return " or ".join(str(word) for word in inner)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return " or ".join(str(member.value) for member in kind)
    names = {str: "text", int: "a whole number", float: "a number", bool: "T or F"}
    return names[kind] if isinstance(kind, type) else str(kind)


def _spelled(value: object) -> str:
    """A value as one would type it."""
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, bool):
        return "T" if value else "F"
    if isinstance(value, tuple):
        return str(list(value))
    return value if isinstance(value, str) else repr(value)
