"""What a call may give back: functions and classes of the file, kernels, compilers, and the builtins that look names up."""

import ast

from kernelguard.preflight.externals import COMPILERS, KERNEL_MAKERS, LOADERS, result_of
from kernelguard.preflight.kinds import IDENTITY, NOTHING, Kind, Kinds, Tag, derived_tensor, names, one, only, unbox
from kernelguard.preflight.members import Members
from kernelguard.preflight.scopes import Program
from kernelguard.preflight.vocabulary import MODULE_CHAINED, canonical

CARRIED = (Tag.TEXT, Tag.DECODED, Tag.SETTING)  # what string operations keep
_CHOOSERS = frozenset({"min", "max", "sorted", "filter", "next"})  # what they give depends on what their key function saw
_SETTINGS = frozenset({"os.getenv", "os.environ.get", "os.environ.setdefault", "os.environ.pop"})


class Calls(Members):
    """Members, and the results of calls.

    `families` names the language of each kernel, `host_jits` holds its compiled host functions, `compiled` the calls that compile
    native code.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.families: dict[int, str] = {}
        self.host_jits: set[int] = set()
        self.compiled: list[ast.Call] = []

    def given(self, node: ast.Call) -> Kinds:
        """The kinds of all arguments of a call, mixed."""
        values = (*node.args, *(keyword.value for keyword in node.keywords))
        return NOTHING.union(*(self.kinds(value) for value in values))

    def constant(self, node: ast.AST | None) -> str | None:
        """The string that an expression must be: a literal, a sum or join of literals, or a variable that holds one only."""
        match node:
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._joined([left, right], "")
            case ast.Call(func=ast.Attribute(value=glue, attr="join"), args=[ast.Tuple(elts=parts) | ast.List(elts=parts)]):
                between = self.constant(glue)
                return None if between is None else self._joined(parts, between)
            case ast.Constant() | ast.JoinedStr() | ast.Name() | ast.Attribute():
                kinds = self.kinds(node)
                texts = [self.program.texts[int(index)] for index in names(kinds, Tag.TEXT)]
                return texts[0].value if len(texts) == len(kinds) == 1 and texts[0].exact else None
            case _:
                return None

    def result(self, kind: Kind, node: ast.Call) -> Kinds:
        """What calling a value of this kind gives, with the arguments of `node`."""
        if kind.boxed:
            return unbox([kind])
        match kind.tag:
            case Tag.NAME:
                found = self._external(kind.name, node)
            case Tag.FUNCTION | Tag.METHOD:
                found = self.returned([kind])
            case Tag.CLASS:
                found = one(Tag.INSTANCE, kind.name)
            case Tag.INSTANCE:
                found = self.returned(self.called_instance(int(kind.name))) | self.called_kernels(int(kind.name))
            case Tag.LAYER:
                found = derived_tensor(self.given(node))
            case Tag.KERNEL:
                found = frozenset({kind})
            case Tag.TEXT | Tag.DECODED | Tag.SETTING:
                found = frozenset({kind}) | only(self.given(node), *CARRIED)
            case Tag.NATIVE if kind.name.endswith(":get_function"):
                found = one(Tag.EXTENSION, kind.name.split(":")[0])
            case _:
                found = NOTHING
        return found

    def _is_built(self, path: ast.expr) -> bool:
        """Whether a library's path leads into the program's own folders, rather than being a name that the system resolves."""
        return bool(only(self.kinds(path), Tag.SETTING, Tag.EXTENSION))

    def as_kernels(self, functions: Kinds, family: str) -> Kinds:
        """The kernels that a language's decorator makes of these functions."""
        for kind in functions:
            self.families[int(kind.name)] = family
        return frozenset(Kind(Tag.KERNEL, kind.name) for kind in functions)

    def called_kernels(self, index: int) -> Kinds:
        """Kernels among what an object of the class runs when it is called."""
        return only(self.called_instance(index), Tag.KERNEL)

    def _joined(self, parts: list[ast.expr], between: str) -> str | None:
        words = [self.constant(part) for part in parts]
        return between.join(word for word in words if word is not None) if None not in words else None

    def _external(self, name: str, node: ast.Call) -> Kinds:
        if name in _SETTINGS:
            return one(Tag.SETTING, self.constant(_argument(node, 0)) or "?")
        match name:
            case "getattr":
                found = self._looked_up(node)
            case "super":
                around = self.program.enclosing_class(self.program.scope_of[node])
                found = one(Tag.SUPER, around.index) if around else NOTHING
            case "__import__" | "importlib.import_module":
                module = self.constant(_argument(node, 0))
                found = one(Tag.NAME, canonical(module)) if module else NOTHING
            case "vars":
                found = frozenset(Kind(Tag.NAME, f"{base}.__dict__") for base in names(self.given(node), Tag.NAME))
            case "globals":
                found = one(Tag.NAME, "globals()")
            case "functools.partial":
                found = self.kinds(node.args[0]) if node.args else NOTHING
            case _:
                found = self._made(name, node)
        return found

    def _looked_up(self, node: ast.Call) -> Kinds:
        attribute = self.constant(_argument(node, 1))
        if attribute is None:
            return NOTHING
        values = self.kinds(node.args[0])
        found = NOTHING.union(*(self.member(kind, attribute) for kind in values))
        return found if values else one(Tag.NAME, f"?.{attribute}")

    def _made(self, name: str, node: ast.Call) -> Kinds:
        given = self.given(node)
        if name in COMPILERS or (name in LOADERS and node.args and self._is_built(node.args[0])):
            if node not in self.compiled:
                self.compiled.append(node)
            return one(Tag.EXTENSION, self.compiled.index(node))
        if name in KERNEL_MAKERS:
            return self.as_kernels(only(given, Tag.FUNCTION, Tag.METHOD), KERNEL_MAKERS[name]) or one(Tag.NAME, name)
        if name in _CHOOSERS and only(self.returned(given), Tag.IDENTITY):
            return result_of(name, NOTHING, given) | IDENTITY
        receiver = self.kinds(node.func.value) if isinstance(node.func, ast.Attribute) else NOTHING
        if name.startswith("torch.nn.") and name.rsplit(".", 1)[1] in MODULE_CHAINED:
            return receiver
        return result_of(name, receiver, given)


def _argument(node: ast.Call, place: int) -> ast.expr | None:
    return node.args[place] if len(node.args) > place else None
