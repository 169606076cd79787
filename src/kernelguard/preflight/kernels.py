"""Kernels written in a language inside Python (Triton, CuTe, TileLang): which are declared, and which does forward launch."""

import ast
from dataclasses import dataclass

from kernelguard.preflight.evaluate import Evaluator
from kernelguard.preflight.kinds import Tag, names
from kernelguard.preflight.scopes import Scope

_STORES = ("store", "atomic_", "async_copy_", "reduce_add", "tma_")  # beginnings of the names of what writes to memory in Triton
_LAUNCHED_BY_CALL = "tilelang"


@dataclass(frozen=True, kw_only=True, slots=True)
class PythonKernel:
    """One device function. `writes`: something in it, or in a function that it uses, stores to memory."""

    name: str
    family: str
    node: ast.AST
    launched: bool
    used_by_kernel: bool
    writes: bool


def read_kernels(evaluator: Evaluator, live: frozenset[int]) -> tuple[PythonKernel, ...]:
    """Every kernel of the file, in source order."""
    scopes = evaluator.program.scopes
    launched = _launched(evaluator, live)
    uses = {index: _device_functions(evaluator, scopes[index]) for index in evaluator.families}
    used = frozenset().union(*(inner - {index} for index, inner in uses.items()))
    return tuple(
        PythonKernel(
            name=scopes[index].name,
            family=family,
            node=scopes[index].node,
            launched=index in launched or _inside(scopes[index], launched),
            used_by_kernel=index in used or _inside(scopes[index], frozenset(evaluator.families)),
            writes=family != "triton" or any(_stores(scopes[inner]) for inner in uses[index]),
        )
        for index, family in sorted(evaluator.families.items())
    )


def _launched(evaluator: Evaluator, live: frozenset[int]) -> frozenset[int]:
    found: set[int] = set()
    for index in live:
        for node in evaluator.program.scopes[index].nodes:
            if isinstance(node, ast.Call):
                called = evaluator.kinds(node.func)
                found |= {int(name) for name in names(called, Tag.LAUNCHER)}
                by_call = (int(name) for name in names(called, Tag.KERNEL))
                found |= {kernel for kernel in by_call if evaluator.families.get(kernel) == _LAUNCHED_BY_CALL}
    return frozenset(found)


def _inside(scope: Scope, indices: frozenset[int]) -> bool:
    around = scope.parent
    while around is not None:
        if around.index in indices:
            return True
        around = around.parent
    return False


def _device_functions(evaluator: Evaluator, kernel: Scope) -> frozenset[int]:
    """The kernel itself and every function of the file that its code refers to, directly or not."""
    seen: set[int] = set()
    queue = [kernel.index]
    while queue:
        index = queue.pop()
        if index in seen:
            continue
        seen.add(index)
        for node in evaluator.program.scopes[index].nodes:
            if isinstance(node, ast.Name | ast.Attribute):
                kinds = evaluator.kinds(node)
                queue += [int(kind.name) for kind in kinds if kind.tag in (Tag.FUNCTION, Tag.METHOD, Tag.KERNEL)]
    return frozenset(seen)


def _stores(scope: Scope) -> bool:
    called = (node.func for node in scope.nodes if isinstance(node, ast.Call))
    words = (
        func.attr if isinstance(func, ast.Attribute) else func.id for func in called if isinstance(func, ast.Attribute | ast.Name)
    )
    return any(word.startswith(_STORES) for word in words)
