"""The syntax tree cut into scopes: which nodes belong to which function or class, which names each binds, which strings it holds.

Code that can't run is left out: the body of `if False`, and what follows a `return` or `raise` in the same block.
Nothing here evaluates anything.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ScopeNode = ast.Module | ast.ClassDef | FunctionNode

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_HEADS = ("decorator_list", "bases", "keywords", "returns", "args")  # evaluated outside of the scope that they introduce


@dataclass(slots=True)
class Scope:
    """One module, class, function or lambda. `nodes` are its own, in source order; `bound` the names that it assigns."""

    index: int
    node: ScopeNode
    parent: "Scope | None"
    nodes: list[ast.AST] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    elsewhere: dict[str, "Scope"] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name in the source; `<module>` and `<lambda>` for the nameless."""
        match self.node:
            case ast.Module():
                return "<module>"
            case ast.Lambda():
                return "<lambda>"
            case _:
                return self.node.name

    @property
    def is_class(self) -> bool:
        """True for the body of a class, whose names its methods don't see."""
        return isinstance(self.node, ast.ClassDef)

    def statements(self) -> Iterator[list[ast.AST]]:
        """Its nodes in runs: a statement and the expressions up to the next one."""
        starts = [place for place, node in enumerate(self.nodes) if isinstance(node, ast.stmt) or place == 0]
        for start, stop in pairwise([*starts, len(self.nodes)]):
            yield self.nodes[start:stop]

    @property
    def function(self) -> FunctionNode | None:
        """The function or lambda, if it is one."""
        return self.node if isinstance(self.node, _FUNCTIONS) else None


@dataclass(frozen=True, slots=True)
class Text:
    """One string of the file, docstrings left out. In an f-string each placeholder stands as `0`; `exact` says there is none."""

    value: str
    node: ast.Constant | ast.JoinedStr
    exact: bool


@dataclass(slots=True)
class Program:
    """Every scope (the module first), the scope of every node, the strings, and the modules that were star-imported."""

    scopes: list[Scope] = field(default_factory=list)
    scope_of: dict[ast.AST, Scope] = field(default_factory=dict)
    introduced: dict[ast.AST, Scope] = field(default_factory=dict)
    texts: list[Text] = field(default_factory=list)
    text_of: dict[ast.AST, int] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    def home(self, name: str, scope: Scope) -> Scope | None:
        """The scope whose variable this name is, seen from `scope`; None for a builtin or a name that nothing binds."""
        seen: Scope | None = scope
        while seen is not None:
            if name in seen.elsewhere:
                return seen.elsewhere[name]
            if name in seen.bound and (not seen.is_class or seen is scope):
                return seen
            seen = seen.parent
        return None

    def enclosing_class(self, scope: Scope) -> Scope | None:
        """The nearest class around a scope."""
        seen: Scope | None = scope
        while seen is not None and not seen.is_class:
            seen = seen.parent
        return seen


def survey(module: ast.Module) -> Program:
    """Cut the tree into scopes, without recursion: a hostile file may nest deeper than Python's stack."""
    program = Program()
    root = _open(program, module, None)
    stack: list[tuple[ast.AST, Scope]] = [(node, root) for node in reversed(list(_children(module)))]
    while stack:
        node, scope = stack.pop()
        scope.nodes.append(node)
        program.scope_of[node] = scope
        _note_binding(program, node, scope)
        inner = _open(program, node, scope) if isinstance(node, (ast.ClassDef, *_FUNCTIONS)) else scope
        children = [(child, inner if _is_body(node, name) else scope) for name, child in _fields(node)]
        stack.extend(reversed(children))
    return program


def _open(program: Program, node: ScopeNode, parent: Scope | None) -> Scope:
    scope = Scope(index=len(program.scopes), node=node, parent=parent)
    program.scopes.append(scope)
    program.introduced[node] = scope
    if isinstance(node, _FUNCTIONS):
        given = node.args
        every = (*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg)))
        scope.bound.update(parameter.arg for parameter in every)
    return scope


def _is_body(node: ast.AST, name: str) -> bool:
    return isinstance(node, (ast.ClassDef, *_FUNCTIONS)) and name not in _HEADS


def _note_binding(program: Program, node: ast.AST, scope: Scope) -> None:
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()):
            (scope.elsewhere.get(node.id) or scope).bound.add(node.id)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            (scope.elsewhere.get(node.name) or scope).bound.add(node.name)
        case ast.alias():
            _note_alias(node, scope)
        case ast.ImportFrom() if any(alias.name == "*" for alias in node.names):
            program.stars.append(node.module or "")
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name:
            scope.bound.add(node.name)
        case ast.Global():
            scope.elsewhere.update(dict.fromkeys(node.names, program.scopes[0]))
        case ast.Nonlocal() if scope.parent:
            for name in node.names:
                scope.elsewhere[name] = program.home(name, scope.parent) or scope.parent
        case ast.Constant() | ast.JoinedStr():
            _note_text(program, node)
        case _:
            pass


def _note_alias(alias: ast.alias, scope: Scope) -> None:
    name = alias.asname or alias.name.split(".")[0]
    if name != "*":
        (scope.elsewhere.get(name) or scope).bound.add(name)


def _note_text(program: Program, node: ast.Constant | ast.JoinedStr) -> None:
    match node:
        case ast.Constant(value=str() as value):
            text = Text(value=value, node=node, exact=True)
        case ast.JoinedStr():
            parts = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
            value = "".join(part if isinstance(part, str) else "0" for part in parts)
            text = Text(value=value, node=node, exact=None not in parts)
        case _:
            return
    program.text_of[node] = len(program.texts)
    program.texts.append(text)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    return (child for _, child in _fields(node))


def _fields(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The children that can run, with the field that each stands in; docstrings and the pieces of f-strings left out."""
    skipped = _dead_fields(node)
    for name, value in ast.iter_fields(node):
        if name in skipped:
            continue
        if isinstance(value, ast.AST):
            yield name, value
        elif isinstance(value, list):
            yield from ((name, child) for child in _up_to_the_end(value) if _counts(node, child))


def _dead_fields(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.If(test=ast.Constant(value=value)) | ast.While(test=ast.Constant(value=value)) if not value:
            return ("body",)
        case ast.If(test=ast.Constant()):
            return ("orelse",)
        case _:
            return ()


def _up_to_the_end(block: list[object]) -> Iterator[ast.AST]:
    for child in block:
        if isinstance(child, ast.AST):
            yield child
        if isinstance(child, _ENDS):
            return


def _counts(parent: ast.AST, child: ast.AST) -> bool:
    if isinstance(parent, ast.JoinedStr):
        return not isinstance(child, ast.Constant)
    return not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant))
