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
    """The functions, by the index of their scope, that a call of `forward` may run."""
    queue = [
        index for entry in entries for index in (*_code(evaluator.class_member(entry, "forward")), *_operators(evaluator, entry))
    ]
    queue += _hooks(evaluator)
    seen: set[int] = set()
    while queue:
        index = queue.pop()
        if index not in seen:
            seen.add(index)
            for node in evaluator.program.scopes[index].nodes:
                queue += _referred(evaluator, node, entries)
    return frozenset(seen)


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


def _operators(evaluator: Evaluator, index: int) -> list[int]:
    """The special methods of a class: Python calls them without naming them."""
    special = (scope for scope in evaluator.program.scopes if scope.parent is not None and scope.parent.index == index)
    return [
        scope.index
        for scope in special
        if scope.function and scope.name.startswith("__") and scope.name.endswith("__") and scope.name not in _NOT_IN_A_CALL
    ]


def _hooks(evaluator: Evaluator) -> list[int]:
    found: list[int] = []
    for scope in evaluator.program.scopes:
        for node in scope.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _HOOKS:
                found += _code(evaluator.given(node))
    return found


def _referred(evaluator: Evaluator, node: ast.AST, entries: list[int]) -> list[int]:
    """What one node of reachable code may cause to run."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Lambda):
        return []
    kinds = evaluator.kinds(node)
    found = _code(kinds)
    for index in names(kinds, Tag.INSTANCE):
        if int(index) not in entries:
            found += _operators(evaluator, int(index))
    if isinstance(node, ast.Call):
        called = evaluator.kinds(node.func)
        for index in names(called, Tag.INSTANCE):
            found += _code(evaluator.called_instance(int(index)))
        for index in names(called, Tag.CLASS):
            found += _code(evaluator.class_member(int(index), "__init__"))
    return found
