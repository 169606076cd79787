"""Native code that a candidate compiles: the text that goes into it, and what forward calls of what comes out."""

import ast
from bisect import bisect_right
from dataclasses import dataclass

from kernelguard.preflight.evaluate import Evaluator
from kernelguard.preflight.kinds import Tag, names, only
from kernelguard.preflight.native_text import NativeText, reached, read_native
from kernelguard.preflight.scopes import Text
from kernelguard.preflight.vocabulary import FRAMEWORK_OPS

MAX_EXTENSIONS = 32  # more are not read, and so count as unreadable
_CODE_SIGNS = ("__global__", "#include", "PYBIND11_MODULE", "TORCH_LIBRARY", 'extern "C"', "torch::", "at::", "<<<")


@dataclass(frozen=True, kw_only=True, slots=True)
class Extension:
    """One compile call. `reached` is the code that forward's calls lead to, empty when forward calls nothing of it.

    `options` are the strings among its arguments that are no code: names, flags, paths.
    `called_directly`: what the compiler returned is itself launched, as a kernel object.
    """

    node: ast.Call
    parts: tuple[Text, ...]
    options: tuple[Text, ...]
    native: NativeText
    reached: str
    called_directly: bool
    decoded: bool

    def part_at(self, position: int) -> tuple[Text, int]:
        """The string that holds this position of the code, and how many lines below its first one."""
        starts = [0]
        for part in self.parts[:-1]:
            starts.append(starts[-1] + len(part.value) + 1)
        place = bisect_right(starts, position) - 1
        return self.parts[place], self.native.code.count("\n", starts[place], position)


def looks_native(text: str) -> bool:
    """Whether a string is C++ or CUDA: a statement or declaration, and a word that prose does not have."""
    return (";" in text or "{" in text) and any(sign in text for sign in _CODE_SIGNS)


def read_extensions(evaluator: Evaluator, live: frozenset[int]) -> tuple[Extension, ...]:
    """Every compile call of the file, in source order."""
    called = _Called(evaluator, live)
    found = [_read(evaluator, index, called) for index in range(min(len(evaluator.compiled), MAX_EXTENSIONS))]
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


def _read(evaluator: Evaluator, index: int, called: _Called) -> Extension:
    node = evaluator.compiled[index]
    given = evaluator.given(node)
    texts = [evaluator.program.texts[int(kind.name)] for kind in sorted(only(given, Tag.TEXT), key=lambda kind: int(kind.name))]
    parts = [text for text in texts if looks_native(text.value) or "{" in text.value] or _written_sources(evaluator)
    native = read_native("\n".join(part.value for part in parts))
    exported = {name for name, _ in native.exports}
    entries = called.entries.get(index, set()) | (called.operators & exported)
    directly = index in called.directly
    everything = None if directly or "*" in entries else frozenset(entries)
    return Extension(
        node=node,
        parts=tuple(parts),
        options=tuple(text for text in texts if text not in parts),
        native=native,
        reached=reached(native, everything) if entries or directly else "",
        called_directly=directly,
        decoded=bool(only(given, Tag.DECODED)),
    )


def _written_sources(evaluator: Evaluator) -> list[Text]:
    """The native code that the file holds as strings: what it can have written out for a compiler that takes paths."""
    return [text for text in evaluator.program.texts if looks_native(text.value)]
