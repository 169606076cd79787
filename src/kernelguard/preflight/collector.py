"""Collect the uses of a program, scope by scope. A name that is part of a longer one, or that is called, counts once."""

import ast
from collections.abc import Iterator

from kernelguard.preflight.evaluate import Evaluator
from kernelguard.preflight.kinds import Tag, names, only, surely_tensor
from kernelguard.preflight.scopes import Scope
from kernelguard.preflight.uses import UNKNOWN, Arguments, Role, Use
from kernelguard.preflight.vocabulary import canonical, words

_SETTERS = words("setattr delattr object.__setattr__ type.__setattr__ object.__delattr__ type.__delattr__")
_LOOKUPS = words("getattr __import__ importlib.import_module")
_ARITHMETIC = words("abs pow sum divmod round")
_REMEMBERING = words("get setdefault add pop __contains__ __getitem__ __setitem__")
_CACHES = frozenset({"lru_cache", "cache"})
_NOTHING_GIVEN = Arguments()


def collect_uses(evaluator: Evaluator, live: frozenset[int], device: frozenset[int]) -> tuple[Use, ...]:
    """All uses in the file, scope by scope, in source order within each."""
    read = {
        node.id
        for scope in evaluator.program.scopes
        for node in scope.nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    found: list[Use] = []
    for scope in evaluator.program.scopes:
        collector = _Collector(evaluator, scope, live=scope.index in live, device=scope.index in device)
        found += collector.collect(read)
    return tuple(found)


class _Collector:
    def __init__(self, evaluator: Evaluator, scope: Scope, *, live: bool, device: bool) -> None:
        self.evaluator = evaluator
        self.scope = scope
        self.live = live
        self.device = device
        self.counted: set[ast.AST] = set()  # names that a longer name or a call around them has taken
        self.values: dict[ast.AST, ast.expr] = {}  # what each target of an assignment is given

    def collect(self, read: set[str]) -> Iterator[Use]:
        for node in self.scope.nodes:
            yield from self._of_node(node)
            if self.live and not self.device:
                yield from self._operators(node)
                yield from self._remembered(node)
            if self.scope.index == 0:
                yield from self._unread(node, read)

    def _use(self, name: str, role: Role, node: ast.AST, given: Arguments = _NOTHING_GIVEN) -> Use:
        return Use(name=name, role=role, node=node, scope=self.scope.index, live=self.live, device=self.device, given=given)

    def _of_node(self, node: ast.AST) -> Iterator[Use]:
        match node:
            case ast.Call():
                yield from self._call(node)
            case ast.Attribute() | ast.Name():
                yield from self._name(node)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                given = Arguments(texts=(self.evaluator.constant(node.slice),))
                for name in names(self.evaluator.kinds(node.value), Tag.NAME):
                    yield self._use(f"{name}[]", Role.WRITE, node, given)
            case ast.Assign(targets=targets, value=value):
                self.values.update(dict.fromkeys(targets, value))
            case ast.Import(names=aliases):
                yield from (self._use(canonical(alias.name), Role.IMPORT, node) for alias in aliases)
            case ast.ImportFrom(names=aliases):
                origin = node.module or ""
                yield from (self._use(canonical(f"{origin}.{alias.name}".strip(".*")), Role.IMPORT, node) for alias in aliases)
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._definition(node)
            case _:
                return

    def _call(self, node: ast.Call) -> Iterator[Use]:
        self.counted.add(node.func)
        given = self._arguments(node)
        called = self.evaluator.kinds(node.func)
        for name in names(called, Tag.NAME):
            yield self._use(name, Role.CALL, node, given)
            if name in _SETTERS and node.args:
                yield from self._written(
                    node.args[0], self.evaluator.constant(node.args[1]) if len(node.args) > 1 else None, node
                )
            if name in _LOOKUPS and node not in self.counted:
                for found in names(self.evaluator.kinds(node), Tag.NAME):
                    yield self._use(found, Role.READ, node)
        for layer in names(called, Tag.LAYER):
            yield self._use(f"{layer}.__call__", Role.CALL, node, given)

    def _arguments(self, node: ast.Call) -> Arguments:
        options = {
            keyword.arg: keyword.value.value if isinstance(keyword.value, ast.Constant) else UNKNOWN
            for keyword in node.keywords
            if keyword.arg is not None
        }
        texts = tuple(self.evaluator.constant(_first(argument)) for argument in node.args)
        return Arguments(texts=texts, options=options, kinds=self.evaluator.given(node))

    def _name(self, node: ast.Attribute | ast.Name) -> Iterator[Use]:
        if isinstance(node, ast.Attribute):
            self.counted.add(node.value)
            if not isinstance(node.ctx, ast.Load):
                yield from self._written(node.value, node.attr, node)
                return
        if isinstance(node.ctx, ast.Load) and node not in self.counted:
            for name in names(self.evaluator.kinds(node), Tag.NAME):
                yield self._use(name, Role.READ, node)

    def _written(self, base: ast.expr, attribute: str | None, node: ast.AST) -> Iterator[Use]:
        """An attribute of `base` is set or deleted; None for one whose name is no constant."""
        kinds = self.evaluator.kinds(base)
        value = self.values.get(node)
        constant = value.value if isinstance(value, ast.Constant) else UNKNOWN
        given = Arguments(options={"value": constant}, kinds=self.evaluator.kinds(value) if value else frozenset())
        attribute = attribute or "*"
        if not kinds:
            yield self._use(f"?.{attribute}", Role.WRITE, node, given)
        for kind in sorted(kinds, key=lambda kind: (kind.tag.name, kind.name)):
            match kind.tag:
                case Tag.NAME:
                    yield self._use(canonical(f"{kind.name}.{attribute}"), Role.WRITE, node, given)
                case Tag.TENSOR:
                    yield self._use(f"tensor.{attribute}", Role.WRITE, node, given)
                case _ if attribute.startswith("__") and attribute.endswith("__"):
                    yield self._use(f"?.{attribute}", Role.WRITE, node, given)
                case _:
                    pass

    def _definition(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Use]:
        within = f"{self.scope.name}." if self.scope.is_class else ""
        yield self._use(f"{within}{node.name}", Role.DEFINE, node)
        for base in node.bases if isinstance(node, ast.ClassDef) else ():
            self.counted.add(base)
            for name in names(self.evaluator.kinds(base), Tag.NAME):
                yield self._use(name, Role.BASE, node)

    def _operators(self, node: ast.AST) -> Iterator[Use]:
        match node:
            case ast.BinOp(left=left, op=op, right=right) | ast.AugAssign(target=left, op=op, value=right):
                sides = [self.evaluator.kinds(left), self.evaluator.kinds(right)]
                own = any(only(side, Tag.INSTANCE) for side in sides)
                if isinstance(op, ast.MatMult) and not own:
                    yield self._use("torch.Tensor.__matmul__", Role.CALL, node)
                elif any(surely_tensor(side) for side in sides) and not _counts_up(node):
                    yield self._use(f"torch.Tensor.__{type(op).__name__.lower()}__", Role.CALL, node)
            case ast.UnaryOp(op=ast.USub() | ast.Invert() as op, operand=operand) if surely_tensor(self.evaluator.kinds(operand)):
                yield self._use(f"torch.Tensor.__{type(op).__name__.lower()}__", Role.CALL, node)
            case ast.Call(args=[first, *_]):
                for name in names(self.evaluator.kinds(node.func), Tag.NAME):
                    tensors = self.evaluator.kinds(first)
                    if name in _ARITHMETIC and only(tensors, Tag.TENSOR) == tensors and tensors:
                        yield self._use(f"torch.Tensor.{name}", Role.CALL, node)
            case _:
                return

    def _remembered(self, node: ast.AST) -> Iterator[Use]:
        kinds = self.evaluator.kinds
        kept = False
        match node:
            case ast.Subscript(value=container, slice=key):
                kept = bool(only(kinds(key), Tag.IDENTITY)) and not names(kinds(container), Tag.TENSOR)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn(), *_]):
                kept = bool(only(kinds(left), Tag.IDENTITY))
            case ast.Call(func=ast.Attribute(value=container, attr=method), args=[key, *_]) if method in _REMEMBERING:
                kept = bool(only(kinds(key), Tag.IDENTITY)) and not names(kinds(container), Tag.TENSOR)
            case ast.Assign(targets=[target, *_], value=value):
                outlives = isinstance(target, ast.Attribute) or (
                    isinstance(target, ast.Name) and target.id in self.scope.elsewhere
                )
                kept = outlives and bool(only(kinds(value), Tag.IDENTITY))
            case ast.Call():
                kept = self._is_cache_of_tensors(node)
            case _:
                pass
        if kept:
            yield self._use("address, id or content", Role.KEEP, node)

    def _is_cache_of_tensors(self, node: ast.Call) -> bool:
        """Whether a call reaches a function of the file that `functools.lru_cache` wraps, and hands it a tensor."""
        if not only(self.evaluator.given(node), Tag.TENSOR):
            return False
        functions = only(self.evaluator.kinds(node.func), Tag.FUNCTION, Tag.METHOD)
        return any(self.evaluator.decorators(int(function.name)) & _CACHES for function in functions)

    def _unread(self, node: ast.AST, read: set[str]) -> Iterator[Use]:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int())) if name not in read:
                yield self._use(name, Role.UNUSED, node)
            case _:
                return


def _counts_up(node: ast.AST) -> bool:
    """`counter += 1`: a tensor that counts, as state that a kernel reads, and no work."""
    match node:
        case ast.AugAssign(op=ast.Add() | ast.Sub(), value=ast.Constant(value=int())):
            return True
        case _:
            return False


def _first(argument: ast.expr) -> ast.expr:
    """The first element of a list that is written out (the program in an argument vector), or the argument itself."""
    return argument.elts[0] if isinstance(argument, ast.List | ast.Tuple) and argument.elts else argument
