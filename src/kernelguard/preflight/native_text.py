"""Facts from CUDA, HIP and C++ text, never compiled: which functions it has, which kernels, and which of them Python can reach.

Comments and the content of string literals are blanked first, so words in prose count for nothing; positions stay what they were.
Gets past: names that the preprocessor pastes together, and calls through function pointers that another function fills.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

MAX_FUNCTIONS = 1000  # more are not followed: then everything counts as reached

_LEXEMES = re.compile(
    r"""
      (?P<comment> //(?:[^\n\\]|\\.)* | /\*.*?(?:\*/|\Z) )
    | (?P<raw> \bR"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z) )
    | (?P<string> "(?:[^"\\\n]|\\.)*(?:"|(?=\n)|\Z) )
    | (?P<char> (?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.){1,8}' )
    """,
    re.VERBOSE | re.DOTALL,
)
_CONDITION = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)\b[ \t]*(.*)")
_ATTRIBUTE = re.compile(
    r"\b(?:__launch_bounds__|__cluster_dims__|__block_size__|__maxnreg__|__attribute__|__declspec|alignas)\s*\("
)
_KERNEL = re.compile(r"\b__global__\b")
_HEAD = re.compile(r"([A-Za-z_]\w*)\s*\(")
_TO_BODY = re.compile(r"\s*(?:(?:const|noexcept|override|final|mutable)\b\s*)*(?:->[^;{}()]{1,200})?\{")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LAUNCH = re.compile(
    r"<<<|\b(?:cuda|cu|hip)(?:Launch\w*Kernel\w*|ModuleLaunchKernel)\b|\bhipLaunchKernelGGL\b|\bClusterLauncher\b"
)
_EXPORT = re.compile(
    r"\b(?:def|impl)\s*\(\s*\"(\w+)[^\"]{0,400}\"\s*,\s*(?:TORCH_FN\s*\(\s*|torch::wrap_pybind_function\s*\(\s*)?&?\s*([\w:]+)?"
)
_LOOP = re.compile(r"\b(?:for|while|do)\b|\bstd::(?:transform|accumulate|for_each|reduce|copy|fill|inner_product)\b|\bmemcpy\b")
_NO_FUNCTION = frozenset({"if", "for", "while", "switch", "catch", "return", "sizeof", "alignof", "decltype", "defined"})
_REGISTRATION = frozenset({"PYBIND11_MODULE", "TORCH_LIBRARY", "TORCH_LIBRARY_IMPL", "TORCH_LIBRARY_FRAGMENT", "NB_MODULE"})


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """One function with a body: `[start, end)` are positions in the text, the braces included."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NativeText:
    """One translation unit. `code` has comments and strings blanked, `quoted` the comments only; both are as long as the text.

    `kernels` are the `__global__` functions whose body does something, `heads` the places where any is declared or defined;
    `exports` pairs a name that Python sees with a function.
    """

    code: str
    quoted: str
    functions: tuple[NativeFunction, ...]
    kernels: frozenset[str]
    heads: frozenset[int]
    exports: tuple[tuple[str, str], ...]


def read_native(text: str) -> NativeText:
    """Read one text, whatever is in it; it is lexed, not parsed."""
    quoted = _blanked(text, frozenset({"comment"}))
    code = _blanked(text, frozenset({"comment", "raw", "string", "char"}))
    code = _without_disabled(code)
    closing = _closing(code)
    plain = _without_attributes(code, closing)
    functions = tuple(_functions(plain, closing))
    heads = tuple(islice(_kernel_heads(plain), MAX_FUNCTIONS))
    return NativeText(
        code=code,
        quoted=quoted,
        functions=functions if len(functions) <= MAX_FUNCTIONS else (),
        kernels=frozenset(_working_kernels(plain, closing, functions, heads)),
        heads=frozenset(head.start() for head in heads),
        exports=tuple((match.group(1), (match.group(2) or "").rsplit("::", 1)[-1]) for match in _EXPORT.finditer(quoted)),
    )


def reached(native: NativeText, entries: frozenset[str] | None) -> str:
    """The code, with the bodies blanked of functions that no entry (a name that Python calls) leads to.

    None, or an entry that no function answers to, keeps everything: what can't be followed is taken as run.
    """
    wanted = _entry_functions(native, entries) if entries is not None else None
    if wanted is None:
        return native.code
    words = {function: set(_WORD.findall(native.code, function.start, function.end)) for function in native.functions}
    queue = [function for function in native.functions if function.name in wanted]
    kept: set[NativeFunction] = set()
    while queue:
        function = queue.pop()
        if function not in kept:
            kept.add(function)
            queue += [other for other in native.functions if other.name in words[function] and other not in kept]
    return _keeping(native, kept)


def launched(native: NativeText, code: str) -> frozenset[str]:
    """The kernels that a part of the code launches: those that it names, if there is a launch in it."""
    if not has_launch(code):
        return frozenset()
    mentioned = {match.group() for match in _WORD.finditer(code) if match.start() not in native.heads}
    return native.kernels & mentioned


def has_launch(code: str) -> bool:
    """Whether any kernel is launched in this code."""
    return bool(_LAUNCH.search(code))


def has_loop(code: str) -> bool:
    """Whether anything in this code is done more than once: what has no loop computes no tensor."""
    return bool(_LOOP.search(code))


def _entry_functions(native: NativeText, entries: frozenset[str]) -> set[str] | None:
    known = {function.name for function in native.functions}
    wanted: set[str] = set()
    for entry in entries:
        targets = {target for exported, target in native.exports if exported == entry} or {entry}
        if not targets & known:
            return None
        wanted |= targets
    return wanted


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blanked(text: str, sorts: frozenset[str]) -> str:
    def replace(match: re.Match[str]) -> str:
        found = match.group()
        if match.lastgroup not in sorts:
            return found
        quoted = match.lastgroup != "comment" and len(found) > 1
        return f'"{_blank(found[1:-1])}"' if quoted else _blank(found)

    return _LEXEMES.sub(replace, text)


def _without_disabled(code: str) -> str:
    """The code without what stands between `#if 0` and the `#else` or `#endif` that belongs to it."""
    lines = code.split("\n")
    outer: list[bool] = []  # for each open condition, whether what it guards is disabled
    for number, line in enumerate(lines):
        match = _CONDITION.match(line)
        word = match.group(1) if match else ""
        if word.startswith("if"):
            outer.append(word == "if" and match is not None and match.group(2).strip() in {"0", "false"})
        elif word in {"else", "elif"} and outer:
            outer[-1] = False
        elif word == "endif" and outer:
            outer.pop()
        if not word and any(outer[-64:]):
            lines[number] = _blank(line)
    return "\n".join(lines)


def _closing(code: str) -> dict[int, int]:
    """Where the bracket at each position is closed: round and curly ones, each by its own count."""
    pairs: dict[int, int] = {}
    opened: dict[str, list[int]] = {"(": [], "{": []}
    for match in re.finditer(r"[(){}]", code):
        sign = match.group()
        if sign in opened:
            opened[sign].append(match.start())
        elif stack := opened["(" if sign == ")" else "{"]:
            pairs[stack.pop()] = match.start()
    return pairs


def _without_attributes(code: str, closing: dict[int, int]) -> str:
    pieces: list[str] = []
    done = 0
    for match in _ATTRIBUTE.finditer(code):
        end = closing.get(match.end() - 1)
        if end is not None and match.start() >= done:
            pieces += [code[done : match.start()], _blank(code[match.start() : end + 1])]
            done = end + 1
    return "".join([*pieces, code[done:]])


def _functions(plain: str, closing: dict[int, int]) -> Iterator[NativeFunction]:
    """Every `name(...) {body}`, with nothing between bracket and brace but what may stand in a declaration."""
    for match in _HEAD.finditer(plain):
        end = closing.get(match.end() - 1)
        if end is None or match.group(1) in _NO_FUNCTION:
            continue
        opening = _TO_BODY.match(plain, end + 1)
        if opening and (stop := closing.get(opening.end() - 1)):
            yield NativeFunction(name=match.group(1), start=opening.end() - 1, end=stop + 1)


def _kernel_heads(plain: str) -> Iterator[re.Match[str]]:
    """Where a name follows `__global__` and its type: the head of a kernel."""
    for match in _KERNEL.finditer(plain):
        head = _HEAD.search(plain, match.end(), match.end() + 400)
        if head is not None:
            yield head


def _working_kernels(
    plain: str, closing: dict[int, int], functions: tuple[NativeFunction, ...], heads: tuple[re.Match[str], ...]
) -> Iterator[str]:
    """The kernels with a body that assigns or calls something."""
    by_start = sorted(functions, key=lambda function: function.start)
    starts = [function.start for function in by_start]
    for head in heads:
        place = bisect_right(starts, closing.get(head.end() - 1, len(plain)))
        body = by_start[place] if place < len(by_start) else None
        if body and body.name == head.group(1) and re.search(r"[=(]", plain[body.start : body.end]):
            yield body.name


def _keeping(native: NativeText, kept: set[NativeFunction]) -> str:
    """The code with every body blanked that neither lies in a kept function nor holds one; registrations are kept."""
    keep = [(function.start, function.end) for function in native.functions if function in kept or function.name in _REGISTRATION]
    pieces: list[str] = []
    done = 0
    for function in sorted(native.functions, key=lambda function: function.start):
        touches = any(start < function.end and function.start < end for start, end in keep)
        if not touches and function.start >= done:
            pieces += [native.code[done : function.start], _blank(native.code[function.start : function.end])]
            done = function.end
    return "".join([*pieces, native.code[done:]])
