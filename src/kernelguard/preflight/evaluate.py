"""What an expression may be: names followed through imports, aliases, attributes, containers, constant `getattr` and calls.

The reading is flow-insensitive: a variable is everything that is ever assigned to it. `inference` fills the cells that
this reads. Gets past: names made at run time that no constant shows; values that travel through files or exceptions.
"""

import ast

from kernelguard.preflight.calls import CARRIED, Calls
from kernelguard.preflight.externals import handed_on
from kernelguard.preflight.kinds import IDENTITY, NOTHING, PLAIN, Kind, Kinds, Tag, box, derived_tensor, one, only, unbox
from kernelguard.preflight.scopes import Program
from kernelguard.preflight.vocabulary import TENSOR_WORDS, canonical

_LOSES_IDENTITY = (ast.Mod, ast.FloorDiv, ast.BitAnd, ast.RShift)  # an alignment check keeps too little to recognise an input by


class Evaluator(Calls):
    """Kinds of expressions over the cells of one program."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._memo: dict[ast.AST, Kinds] = {}

    def refresh(self) -> None:
        """Forget what was worked out before the cells grew."""
        self._memo = {}

    def work_out(self, nodes: list[ast.AST]) -> None:
        """Evaluate the expressions among nodes in source order, the inner ones first: then no depth needs a deep stack."""
        for node in reversed(nodes):
            if isinstance(node, ast.expr):
                self.kinds(node)

    def kinds(self, node: ast.AST) -> Kinds:
        """What an expression may be; the empty set when nobody knows."""
        known = self._memo.get(node)
        if known is None:
            known = self._memo[node] = self._evaluate(node)
        return known

    def _evaluate(self, node: ast.AST) -> Kinds:
        match node:
            case ast.Name():
                found = self._name(node)
            case ast.Attribute():
                found = self._attribute(node)
            case ast.Call():
                found = self._call(node)
            case ast.Subscript():
                found = NOTHING.union(*(self._item(kind, node.slice) for kind in self.kinds(node.value)))
            case ast.Constant() | ast.JoinedStr():
                found = self._literal(node)
            case ast.BinOp():
                found = self._arithmetic(node)
            case ast.Lambda():
                found = one(Tag.FUNCTION, self.program.introduced[node].index)
            case _:
                found = self._composite(node)
        return found

    def _name(self, node: ast.Name) -> Kinds:
        home = self.program.home(node.id, self.program.scope_of[node])
        if home is not None:
            return self.cell(home.index, node.id)
        starred = (canonical(f"{module}.{node.id}") for module in self.program.stars)
        return frozenset(Kind(Tag.NAME, name) for name in (node.id, *starred))

    def _attribute(self, node: ast.Attribute) -> Kinds:
        values = self.kinds(node.value)
        if not values:
            return one(Tag.NAME, f"?.{node.attr}")
        if len(values) > 1 and node.attr.strip("_") not in TENSOR_WORDS:  # of a mixture, what has no such method is not meant
            values = frozenset(kind for kind in values if kind.tag is not Tag.TENSOR)
        return NOTHING.union(*(self.member(kind, node.attr) for kind in values))

    def _literal(self, node: ast.Constant | ast.JoinedStr) -> Kinds:
        index = self.program.text_of.get(node)
        if index is None:
            return PLAIN
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        pieces = (self.kinds(part.value) for part in parts if isinstance(part, ast.FormattedValue))
        return one(Tag.TEXT, index) | only(NOTHING.union(*pieces), *CARRIED)

    def _arithmetic(self, node: ast.BinOp) -> Kinds:
        both = self.kinds(node.left) | self.kinds(node.right)
        if only(unbox(kind for kind in both if not kind.boxed), Tag.TENSOR):
            return derived_tensor(both)
        carried = (*CARRIED, Tag.OBJECT) if isinstance(node.op, ast.Div) else CARRIED  # `/` joins paths
        kept = frozenset(kind for kind in both if kind.boxed or kind.tag in carried)
        if only(both, Tag.IDENTITY):
            return kept | (PLAIN if isinstance(node.op, _LOSES_IDENTITY) else IDENTITY)
        return kept or (PLAIN if both == PLAIN else NOTHING)

    def _composite(self, node: ast.AST) -> Kinds:
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
                return box(self._either(parts))
            case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part) | ast.DictComp(value=part):
                return box(self.kinds(part))
            case ast.IfExp(body=first, orelse=second):
                return self._either([first, second])
            case ast.BoolOp(values=parts):
                return self._either(parts)
            case ast.Compare(left=left, comparators=others):
                sides = self._either([left, *others])
                return derived_tensor(sides) if only(sides, Tag.TENSOR) else PLAIN
            case ast.NamedExpr() | ast.Starred() | ast.Await():
                return self.kinds(node.value)
            case ast.UnaryOp(operand=operand):
                return self.kinds(operand)
            case _:
                return NOTHING

    def _either(self, nodes: list[ast.expr]) -> Kinds:
        return NOTHING.union(*(self.kinds(node) for node in nodes))

    def _item(self, kind: Kind, key: ast.expr) -> Kinds:
        if kind.boxed:
            return unbox([kind])
        match kind.tag:
            case Tag.KERNEL:
                found = one(Tag.LAUNCHER, kind.name)
            case Tag.TENSOR | Tag.TEXT | Tag.DECODED | Tag.SETTING | Tag.PLAIN | Tag.IDENTITY:
                found = frozenset({kind})
            case Tag.EXTENSION:
                found = one(Tag.NATIVE, f"{kind.name}:{self.constant(key) or '*'}")
            case Tag.INSTANCE:
                found = self.returned(self.class_member(int(kind.name), "__getitem__"))
            case Tag.NAME:
                found = self._item_of_name(kind.name, self.constant(key))
            case _:
                found = NOTHING
        return found

    def _item_of_name(self, name: str, key: str | None) -> Kinds:
        if key is None:
            return NOTHING
        if name == "globals()":
            return self.cell(0, key) or one(Tag.NAME, canonical(key))
        if name == "os.environ":
            return one(Tag.SETTING, key)
        if name == "sys.modules":
            return one(Tag.NAME, canonical(key))
        return one(Tag.NAME, canonical(f"{name.removesuffix('.__dict__')}.{key}")) if name.endswith(".__dict__") else NOTHING

    def _call(self, node: ast.Call) -> Kinds:
        called = self.kinds(node.func)
        if not called:
            return handed_on(self.given(node))
        return NOTHING.union(*(self.result(kind, node) for kind in called))
