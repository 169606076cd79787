"""Facts about a candidate's source: read once, bounded, never run. The rules see nothing but these."""

import ast
import re
import warnings
from dataclasses import dataclass

from kernelguard.preflight.collector import collect_uses
from kernelguard.preflight.extensions import Extension, Region, loose_regions, read_extensions
from kernelguard.preflight.inference import settle
from kernelguard.preflight.kernels import PythonKernel, read_kernels
from kernelguard.preflight.kinds import Kinds
from kernelguard.preflight.reach import device_scopes, entry_classes, live_scopes
from kernelguard.preflight.scopes import Program, Text, survey
from kernelguard.preflight.uses import Use

MAX_SOURCE_BYTES = 2_000_000
MAX_DEPTH = 150  # of the syntax tree; honest kernels stay below 40
MAX_NODES = 50_000  # about 5,000 lines
MAX_SNIPPET = 120

_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable:
    """The text could not be turned into facts. `opaque` when it is too large or too deep, otherwise it is no Python."""

    reason: str
    line: int
    opaque: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where something stands: line from 1, column from 1 in UTF-8 bytes, and the line itself, cut to MAX_SNIPPET characters."""

    line: int
    column: int
    snippet: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What the source says. `entry_kinds` is what the entry's name may be, `entries` the classes among that.

    `forward` is what the entry's `forward` may be, `ancestors` the names of the file's classes that the entry is or derives from.
    `loose` is native code that no compile call was seen to take.
    `residuals` are the functions that subtract a value widened again from a narrower type, as split-precision products do.
    """

    lines: tuple[str, ...]
    backend: str
    entry: str
    encoding: str
    program: Program
    entry_kinds: Kinds
    entries: tuple[int, ...]
    forward: Kinds
    ancestors: frozenset[str]
    live: frozenset[int]
    uses: tuple[Use, ...]
    kernels: tuple[PythonKernel, ...]
    extensions: tuple[Extension, ...]
    loose: tuple[Region, ...]
    residuals: frozenset[int]

    def place(self, node: ast.AST, below: int = 0) -> Place:
        """Where a node stands, or the line that many below its first (for text inside a long string)."""
        line = min(getattr(node, "lineno", 1) + below, getattr(node, "end_lineno", None) or 1)
        column = 1 if below else getattr(node, "col_offset", 0) + 1
        return self.place_of_line(line, column)

    def place_of_line(self, line: int, column: int = 1) -> Place:
        """A place by its numbers, with the snippet looked up."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return Place(line=line, column=column, snippet=_snippet(text))

    def place_in(self, region: Region, position: int) -> Place:
        """Where a position of native code stands in the file; a line of a string with escaped line breaks is not exact."""
        text, below = region.part_at(position)
        return self.place(text.node, below)

    @property
    def native_regions(self) -> tuple[Region, ...]:
        """All native code of the file, compiled or not."""
        return (*(extension.whole for extension in self.extensions), *self.loose)

    @property
    def reached_regions(self) -> tuple[Region, ...]:
        """The native code that a call of forward may run."""
        return tuple(extension.reached for extension in self.extensions)

    @property
    def texts(self) -> list[Text]:
        """The strings of the file, docstrings left out."""
        return self.program.texts


def read_source(source: str, *, backend: str, entry: str) -> Facts | Unreadable:
    """Turn a candidate's text into facts, or say why that can't be done. Raises nothing, whatever the text is."""
    if len(source) > MAX_SOURCE_BYTES:
        return Unreadable(reason=f"the source has {len(source)} characters, more than {MAX_SOURCE_BYTES}", line=1, opaque=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # an escape such as "\d" in CUDA text is a warning, and no error even where warnings are
            module = ast.parse(source)
    except SyntaxError as error:
        return Unreadable(reason=f"{error.msg}", line=error.lineno or 1, opaque=False)
    except ValueError as error:  # null bytes, lone surrogates
        return Unreadable(reason=str(error), line=1, opaque=False)
    except (RecursionError, MemoryError):  # what the parser raises for nesting beyond its stack
        return Unreadable(reason="the source is nested too deeply to be parsed", line=1, opaque=True)
    excess = _excess(module)
    if excess is not None:
        return excess
    return _facts(module, source, backend=backend, entry=entry)


def _excess(module: ast.Module) -> Unreadable | None:
    """Whether the tree is too deep or too large to be followed."""
    count = 0
    stack: list[tuple[ast.AST, int]] = [(module, 0)]
    while stack:
        node, depth = stack.pop()
        count += 1
        if depth > MAX_DEPTH:
            reason = f"the source is nested more than {MAX_DEPTH} levels deep"
            return Unreadable(reason=reason, line=getattr(node, "lineno", 1), opaque=True)
        if count > MAX_NODES:
            return Unreadable(reason=f"the syntax tree has more than {MAX_NODES} nodes", line=1, opaque=True)
        stack.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return None


def _facts(module: ast.Module, source: str, *, backend: str, entry: str) -> Facts:
    program = survey(module)
    evaluator = settle(program, entry)
    entries = entry_classes(evaluator, entry)
    live = live_scopes(evaluator, entries)
    device = device_scopes(evaluator)
    lines = tuple(re.split(r"\r\n|\r|\n", source))
    extensions = read_extensions(evaluator, live)
    return Facts(
        lines=lines,
        backend=backend,
        entry=entry,
        encoding=_encoding(lines),
        program=program,
        entry_kinds=evaluator.cell(0, entry),
        entries=tuple(entries),
        forward=frozenset().union(*(evaluator.class_member(index, "forward") for index in entries)),
        ancestors=evaluator.ancestors(entries),
        live=live,
        uses=collect_uses(evaluator, live, device),
        kernels=read_kernels(evaluator, live),
        extensions=extensions,
        loose=loose_regions(evaluator, extensions),
        residuals=frozenset(scope.index for scope in program.scopes if any(_is_residual(node) for node in scope.nodes)),
    )


def _encoding(lines: tuple[str, ...]) -> str:
    """The encoding that the first two lines declare; `utf-8` if they declare none."""
    for line in lines[:2]:
        if match := _COOKIE.match(line):
            return match.group(1).lower().replace("_", "-")
    return "utf-8"


def _is_residual(node: ast.AST) -> bool:
    """`x - y.float()` or `x - y.to(...)`: what is left of a value after its narrower part."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
        return False
    calls = (inner for inner in ast.walk(node.right) if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in {"float", "to", "double"} for call in calls)


def _snippet(line: str) -> str:
    text = line.strip()[:MAX_SNIPPET]
    return "".join(character if character.isprintable() else "?" for character in text)
