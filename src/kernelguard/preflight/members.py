"""What an attribute of a value may be: of the file's classes through their bases, of tensors, layers and compiled code."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable

from kernelguard.preflight.kinds import IDENTITY, NOTHING, PLAIN, TENSOR, Kind, Kinds, Tag, one, only
from kernelguard.preflight.scopes import Program, Scope
from kernelguard.preflight.vocabulary import MODULE_METHODS, TENSOR_FACTS, TENSOR_VIEWS, canonical, is_layer, words

RETURNED = "<returned>"  # the cell of a function that holds what it returns
_KEPT_BY = words("get pop popleft setdefault values items keys copy __getitem__")  # methods that hand out the content
_LAYER_TENSORS = ("weight", "bias", "running_", "in_proj_", "out_proj", "alpha")


class Members(ABC):
    """Cells (one per variable, class attribute and return value, each a set of kinds) and the lookup of attributes in them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.cells: dict[tuple[int, str], set[Kind]] = {}
        self.derived: dict[int, set[int]] = {}

    @abstractmethod
    def kinds(self, node: ast.AST) -> Kinds:
        """What an expression may be."""

    def cell(self, scope: int, name: str) -> Kinds:
        """What a variable of a scope, or an attribute of a class, may be."""
        return frozenset(self.cells.get((scope, name), ()))

    def returned(self, functions: Iterable[Kind]) -> Kinds:
        """What calling these functions of the file gives."""
        found = (self.cell(int(kind.name), RETURNED) for kind in functions if kind.tag in (Tag.FUNCTION, Tag.METHOD))
        return NOTHING.union(*found)

    def member(self, kind: Kind, attribute: str) -> Kinds:
        """What `value.attribute` may be for a value of this kind."""
        if kind.boxed:
            return frozenset({kind}) if attribute in _KEPT_BY else NOTHING
        match kind.tag:
            case Tag.NAME | Tag.OBJECT:
                found = one(Tag.NAME, canonical(f"{kind.name}.{attribute}"))
            case Tag.TENSOR:
                found = _of_tensor(kind, attribute)
            case Tag.LAYER:
                found = _of_layer(kind.name, attribute)
            case Tag.CLASS | Tag.INSTANCE | Tag.SUPER:
                found = self._of_class(kind, attribute)
            case Tag.KERNEL | Tag.EXTENSION | Tag.NATIVE:
                found = _of_compiled(kind, attribute)
            case Tag.TEXT | Tag.DECODED | Tag.SETTING:
                found = frozenset({kind})
            case Tag.PLAIN | Tag.IDENTITY:
                found = PLAIN
            case _:  # a function or a kernel with its grid
                found = frozenset({kind}) if attribute in {"__func__", "__wrapped__"} else one(Tag.NAME, f"?.{attribute}")
        return found

    def class_member(self, index: int, attribute: str) -> Kinds:
        """What the attribute is in a class of the file: its own, else its bases', else what a class derived from it sets."""
        found = self._inherited(index, attribute)
        if found:
            return found
        return NOTHING.union(*(self.cell(child, attribute) for child in self.derived.get(index, ())))

    def called_instance(self, index: int) -> Kinds:
        """What runs when an object of the class is called: its `__call__`, or its `forward`."""
        own = self.class_member(index, "__call__")
        return only(own, Tag.FUNCTION, Tag.METHOD, Tag.KERNEL) or self.class_member(index, "forward")

    def ancestors(self, indices: Iterable[int]) -> frozenset[str]:
        """The names of these classes of the file and of every class of the file that they derive from."""
        seen: set[int] = set()
        stack = list(indices)
        while stack:
            current = stack.pop()
            if current not in seen:
                seen.add(current)
                stack += [int(base.name) for base in self._bases(self.program.scopes[current]) if base.tag is Tag.CLASS]
        return frozenset(self.program.scopes[index].name for index in seen)

    def _inherited(self, index: int, attribute: str) -> Kinds:
        found: set[Kind] = set()
        seen: set[int] = set()
        stack = [index]
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            scope = self.program.scopes[current]
            own = self.cell(current, attribute)
            if own or attribute in scope.bound:
                found |= own
                continue
            for base in self._bases(scope):
                if base.tag is Tag.CLASS:
                    stack.append(int(base.name))
                elif base.tag is Tag.NAME:
                    found |= _of_base(base.name, attribute)
        return frozenset(found)

    def _bases(self, scope: Scope) -> list[Kind]:
        bases = scope.node.bases if isinstance(scope.node, ast.ClassDef) else []
        return sorted((kind for base in bases for kind in self.kinds(base)), key=lambda kind: (kind.tag.name, kind.name))

    def _of_class(self, kind: Kind, attribute: str) -> Kinds:
        index = int(kind.name)
        match kind.tag:
            case Tag.SUPER:
                above = self._bases(self.program.scopes[index])
                found = (self.class_member(int(base.name), attribute) for base in above if base.tag is Tag.CLASS)
                outside = (_of_base(base.name, attribute) for base in above if base.tag is Tag.NAME)
                return self._bound(NOTHING.union(*found, *outside))
            case Tag.INSTANCE:
                return self._bound(self.class_member(index, attribute))
            case _:
                found_here = self.class_member(index, attribute)
                if Kind(Tag.NAME, "torch.autograd.Function.apply") in found_here:
                    # apply() hands its arguments to forward(ctx, ...): the first parameter is taken, as for a bound method
                    return frozenset(Kind(Tag.METHOD, run.name) for run in self.class_member(index, "forward"))
                return found_here

    def _bound(self, found: Kinds) -> Kinds:
        bound: set[Kind] = set()
        for kind in found:
            decorators = self.decorators(int(kind.name)) if kind.tag is Tag.FUNCTION else frozenset()
            static = kind.tag is not Tag.FUNCTION or "staticmethod" in decorators
            bound.add(kind if static else Kind(Tag.METHOD, kind.name))
            if decorators & {"property", "cached_property"}:
                bound |= self.returned([kind])
        return frozenset(bound)

    def decorators(self, index: int) -> frozenset[str]:
        """The last words of a function's decorators, `cached_property` for `@functools.cached_property`."""
        node = self.program.scopes[index].node
        listed = node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
        heads = (decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in listed)
        words = (
            head.attr if isinstance(head, ast.Attribute) else head.id
            for head in heads
            if isinstance(head, ast.Attribute | ast.Name)
        )
        return frozenset(words)


def _of_tensor(kind: Kind, attribute: str) -> Kinds:
    if attribute in TENSOR_VIEWS:
        return frozenset({kind})
    if attribute == "_version":
        return IDENTITY if kind.name else PLAIN
    return PLAIN if attribute in TENSOR_FACTS else one(Tag.NAME, f"torch.Tensor.{attribute}")


def _of_layer(name: str, attribute: str) -> Kinds:
    if attribute.startswith(_LAYER_TENSORS):
        return TENSOR
    return one(Tag.NAME, f"{name}.{attribute}") if attribute in MODULE_METHODS else PLAIN


def _of_base(name: str, attribute: str) -> Kinds:
    if is_layer(name):
        return _of_layer(name, attribute)
    if name == "torch.nn.Module" and attribute not in MODULE_METHODS:
        return NOTHING
    return one(Tag.NAME, canonical(f"{name}.{attribute}"))


def _of_compiled(kind: Kind, attribute: str) -> Kinds:
    match kind.tag:
        case Tag.KERNEL:
            return one(Tag.LAUNCHER, kind.name) if attribute in {"launch", "run"} else NOTHING
        case Tag.EXTENSION:
            return one(Tag.NATIVE, f"{kind.name}:{attribute}")
        case _:
            return frozenset({kind})
