"""Native code that a candidate compiles: the text that goes into it, and what forward calls of what comes out."""

import ast
import re
from bisect import bisect_right
from dataclasses import dataclass

from kernelguard.preflight.evaluate import Evaluator
from kernelguard.preflight.kinds import Tag, names, only
from kernelguard.preflight.native_text import NativeText, reached, read_native
from kernelguard.preflight.scopes import Text
from kernelguard.preflight.vocabulary import FRAMEWORK_OPS

MAX_EXTENSIONS = 32  # more are not read, and so count as unreadable
MAX_NATIVE_CHARACTERS = 2_000_000  # over all extensions; what goes beyond counts as unreadable
MAX_SEARCHED = 100_000  # characters of one string in which a function with a body must show, if no other sign does
_FUNCTION = re.compile(r"\b(?:void|float|double|int|long|static|inline)\b[^;{}()]{1,200}\([^;{}]{0,2000}\)\s*\{[^}]{0,4000};")
_CODE_SIGNS = ("__global__", "#include", "PYBIND11_MODULE", "TORCH_LIBRARY", 'extern "C"', "torch::", "at::", "<<<")


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """Native code and the strings of the file that it stands in, joined by line breaks: a position in one is one in the other."""

    parts: tuple[Text, ...]
    code: str

    def part_at(self, position: int) -> tuple[Text, int]:
        """The string that holds this position, and how many lines below its first one."""
        starts = [0]
        for part in self.parts[:-1]:
            starts.append(starts[-1] + len(part.value) + 1)
        place = bisect_right(starts, position) - 1
        return self.parts[place], self.code.count("\n", starts[place], position)


@dataclass(frozen=True, kw_only=True, slots=True)
class Extension:
    """One compile call, of `compiler`. `reached` is the code that forward's calls lead to: empty when it calls nothing of it.

    `options` are the strings among its arguments that are no code: names, flags, paths.
    `called_directly`: what the compiler returned is itself launched, as a kernel object.
    `decoded`: something that was decoded at run time is among its arguments.
    """

    node: ast.Call
    compiler: str
    native: NativeText
    whole: Region
    reached: Region
    options: tuple[Text, ...]
    called_directly: bool
    decoded: bool


def looks_native(text: str) -> bool:
    """Whether a string is C, C++ or CUDA: a function with a body, or a statement beside a word that prose does not have."""
    marked = (";" in text or "{" in text) and any(sign in text for sign in _CODE_SIGNS)
    return marked or ("{" in text and bool(_FUNCTION.search(text, 0, MAX_SEARCHED)))


def read_extensions(evaluator: Evaluator, live: frozenset[int]) -> tuple[Extension, ...]:
    """Every compile call of the file, in source order."""
    called = _Called(evaluator, live)
    found: list[Extension] = []
    left = MAX_NATIVE_CHARACTERS
    for index, node in enumerate(evaluator.compiled):
        parts, options = _texts(evaluator, node) if index < MAX_EXTENSIONS else ((), ())
        size = sum(len(part.value) for part in parts)
        found.append(_read(evaluator, index, called, parts if size <= left else (), options))
        left -= size if size <= left else 0
    return tuple(sorted(found, key=lambda extension: (extension.node.lineno, extension.node.col_offset)))


class _Called:
    """What live code uses of each extension."""

    def __init__(self, evaluator: Evaluator, live: frozenset[int]) -> None:
        self.entries: dict[int, set[str]] = {}
        self.directly: set[int] = set()
        self.operators: set[str] = set()
        for index in live:
            for node in evaluator.program.scopes[index].nodes:
                self._note(evaluator, node)

    def _note(self, evaluator: Evaluator, node: ast.AST) -> None:
        if not isinstance(node, ast.Attribute | ast.Name | ast.Call | ast.Subscript):
            return
        for name in names(evaluator.kinds(node), Tag.NATIVE):
            extension, entry = name.split(":", 1)
            self.entries.setdefault(int(extension), set()).add(entry)
        if isinstance(node, ast.Call):
            called = evaluator.kinds(node.func)
            self.directly |= {int(name) for name in names(called, Tag.EXTENSION)}
            for name in names(called, Tag.NAME):
                parts = name.split(".")
                if parts[:2] == ["torch", "ops"] and len(parts) > 3 and parts[2] not in FRAMEWORK_OPS:
                    self.operators.add(parts[3])


def loose_regions(evaluator: Evaluator, extensions: tuple[Extension, ...]) -> tuple[Region, ...]:
    """The native code that the file holds as strings and that no compile call was seen to take."""
    taken = {text.node for extension in extensions for text in extension.whole.parts}
    loose = (text for text in evaluator.program.texts if text.node not in taken and looks_native(text.value))
    return tuple(Region(parts=(text,), code=read_native(text.value).code) for text in loose)


def _texts(evaluator: Evaluator, node: ast.Call) -> tuple[tuple[Text, ...], tuple[Text, ...]]:
    """The strings that a compile call may turn into code, and the others that it is given."""
    indices = {int(kind.name) for kind in only(evaluator.given(node), Tag.TEXT)}
    texts = [evaluator.program.texts[index] for index in sorted(indices)]
    parts = [text for text in texts if looks_native(text.value) or "{" in text.value]
    if not parts:  # load() and CDLL() take paths: then whatever code the file holds can have been written to them
        parts = [text for text in evaluator.program.texts if looks_native(text.value)]
    return tuple(parts), tuple(text for text in texts if text not in parts)


def _read(evaluator: Evaluator, index: int, called: _Called, parts: tuple[Text, ...], options: tuple[Text, ...]) -> Extension:
    node = evaluator.compiled[index]
    native = read_native("\n".join(part.value for part in parts))
    entries = called.entries.get(index, set()) | (called.operators & {name for name, _ in native.exports})
    directly = index in called.directly
    followed = None if directly or "*" in entries else frozenset(entries)
    return Extension(
        node=node,
        compiler=node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "a compiler"),
        native=native,
        whole=Region(parts=parts, code=native.code),
        reached=Region(parts=parts, code=reached(native, followed) if entries or directly else ""),
        options=options,
        called_directly=directly,
        decoded=bool(only(evaluator.given(node), Tag.DECODED)),
    )
