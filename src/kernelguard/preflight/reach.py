"""Which functions of the file can run when the entry's `forward` is called, and which are device code.

Reachable is whatever reachable code refers to, called or not: passing a function on counts as calling it. `__init__` is not
reachable from forward, so weight preparation there is free. Gets past: a function reached through values that nobody can follow.
"""

import ast

from kernelguard.preflight.evaluate import Evaluator
from kernelguard.preflight.kinds import Kinds, Tag, names
from kernelguard.preflight.scopes import Scope
from kernelguard.preflight.vocabulary import words

_CODE = (Tag.FUNCTION, Tag.METHOD, Tag.KERNEL, Tag.LAUNCHER)
_NOT_IN_A_CALL = words("__init__ __new__ __init_subclass__ __class_getitem__ __set_name__ __repr__ __str__ __del__ __post_init__")
_HOOKS = (
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
)


def entry_classes(evaluator: Evaluator, entry: str) -> list[int]:
    """The classes that the entry's name may stand for, by the index of their scope."""
    return [int(name) for name in names(evaluator.cell(0, entry), Tag.CLASS)]


def live_scopes(evaluator: Evaluator, entries: list[int]) -> frozenset[int]:
    """The functions, by the index of their scope, that a call of `forward` may run; all generators, once one is resumed."""
    return _Walk(evaluator, entries).live()


def device_scopes(evaluator: Evaluator) -> frozenset[int]:
    """The functions that a kernel language compiles, and what is defined inside them: arithmetic there is the kernel's own."""
    return frozenset(scope.index for scope in evaluator.program.scopes if _inside_kernel(evaluator, scope))


def _inside_kernel(evaluator: Evaluator, scope: Scope) -> bool:
    around: Scope | None = scope
    while around is not None:
        if around.index in evaluator.families or around.index in evaluator.host_jits:
            return True
        around = around.parent
    return False


def _code(kinds: Kinds) -> list[int]:
    return [int(kind.name) for kind in kinds if kind.tag in _CODE]


def _hooks(evaluator: Evaluator) -> list[int]:
    found: list[int] = []
    for scope in evaluator.program.scopes:
        for node in scope.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _HOOKS:
                found += _code(evaluator.given(node))
    return found


def _resumes(node: ast.AST) -> bool:
    """Whether a call goes on with a generator: with which one, nobody can tell."""
    match node:
        case ast.Call(func=ast.Name(id="next") | ast.Attribute(attr="send" | "__next__" | "throw")):
            return True
        case _:
            return False


def _generators(evaluator: Evaluator) -> list[int]:
    yielding = (
        scope for scope in evaluator.program.scopes if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in scope.nodes)
    )
    return [scope.index for scope in yielding]


class _Walk:
    """From forward to everything that code on the way refers to."""

    def __init__(self, evaluator: Evaluator, entries: list[int]) -> None:
        self.evaluator = evaluator
        self.entries = [str(entry) for entry in entries]
        self.special = _special_methods(evaluator)

    def live(self) -> frozenset[int]:
        queue = _hooks(self.evaluator)
        for entry in self.entries:
            queue += _code(self.evaluator.class_member(int(entry), "forward")) + self.special.get(entry, [])
        seen: set[int] = set()
        resumed = False
        while queue:
            index = queue.pop()
            if index in seen:
                continue
            seen.add(index)
            for node in self.evaluator.program.scopes[index].nodes:
                queue += self._referred(node)
                if not resumed and _resumes(node):
                    resumed = True
                    queue += _generators(self.evaluator)
        return frozenset(seen)

    def _referred(self, node: ast.AST) -> list[int]:
        """What one node of reachable code may cause to run."""
        if not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Lambda):
            return []
        kinds = self.evaluator.kinds(node)
        found = _code(kinds)
        for index in names(kinds, Tag.INSTANCE):
            if index not in self.entries:
                found += self.special.pop(index, [])  # once is enough: what was found is followed
        if isinstance(node, ast.Call):
            called = self.evaluator.kinds(node.func)
            for index in names(called, Tag.INSTANCE):
                found += _code(self.evaluator.called_instance(int(index)))
            for index in names(called, Tag.CLASS):
                found += _code(self.evaluator.class_member(int(index), "__init__"))
        return found


def _special_methods(evaluator: Evaluator) -> dict[str, list[int]]:
    """For each class the special methods that Python calls without naming them."""
    found: dict[str, list[int]] = {}
    for scope in evaluator.program.scopes:
        special = scope.name.startswith("__") and scope.name.endswith("__") and scope.name not in _NOT_IN_A_CALL
        if scope.function and scope.parent is not None and scope.parent.is_class and special:
            found.setdefault(str(scope.parent.index), []).append(scope.index)
    return found
