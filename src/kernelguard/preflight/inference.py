"""Fill the cells of a program: pass over every binding and every call until no variable gains a kind, or the bound is reached."""

import ast

from kernelguard.preflight.evaluate import Evaluator
from kernelguard.preflight.externals import HOST_JITS, KERNEL_MAKERS
from kernelguard.preflight.kinds import INPUT, NOTHING, Kind, Kinds, Tag, box, derived_tensor, names, one, only, unbox
from kernelguard.preflight.members import RETURNED
from kernelguard.preflight.scopes import FunctionNode, Program, Scope
from kernelguard.preflight.vocabulary import canonical, words

MAX_PASSES = 12
MAX_KINDS = 24  # of one cell; what comes later is dropped, so that no file makes this slow
_GROWS = words("append appendleft add insert extend setdefault update")
_ALWAYS_KNOWN = words(
    "exec eval compile open __import__ getattr setattr delattr globals vars id hash"
)  # `exec = exec` hides nothing
_NUMBER_TYPES = words("int float bool str")
_REGISTERS = words("torch.nn.Module.register_buffer torch.nn.Module.register_parameter torch.nn.Module.add_module")


def settle(program: Program, entry: str) -> Evaluator:
    """An evaluator whose cells are filled, the arguments of the entry class's `forward` taken as inputs."""
    inference = _Inference(program, entry)
    for _ in range(MAX_PASSES):
        inference.changed = False
        inference.evaluator.refresh()
        for scope in program.scopes:
            for statement in scope.statements():
                inference.evaluator.work_out(statement)
                for node in statement:
                    inference.bind(node, scope)
        if not inference.changed:
            break
    inference.evaluator.refresh()
    for scope in program.scopes:
        inference.evaluator.work_out(scope.nodes)
    return inference.evaluator


class _Inference:
    """One pass after another over the nodes that give a name a value."""

    def __init__(self, program: Program, entry: str) -> None:
        self.program = program
        self.entry = entry
        self.evaluator = Evaluator(program)
        self.changed = False

    def bind(self, node: ast.AST, scope: Scope) -> None:
        """Record what this node assigns, returns, defines, imports or passes on."""
        kinds = self.evaluator.kinds
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign_expression(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                self._assign_expression(target, value)
            case ast.AugAssign(target=target, value=value):
                both = kinds(target) | kinds(value)
                self._assign(target, derived_tensor(both) if names(both, Tag.TENSOR) else kinds(value))
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self._assign(node.target, unbox(kinds(node.iter)))
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                self._assign(target, kinds(value))
            case ast.Call():
                self._flow(node)
            case _:
                self._define(node, scope)

    def _define(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    bound = alias.asname or alias.name.split(".")[0]
                    self._bind_name(bound, one(Tag.NAME, canonical(alias.name if alias.asname else bound)), scope)
            case ast.ImportFrom(names=aliases):
                for alias in aliases:
                    name = f"{node.module or ''}.{alias.name}".lstrip(".")
                    self._bind_name(alias.asname or alias.name, one(Tag.NAME, canonical(name)), scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._bind_name(node.name, self._decorated(node), scope)
                self._seed_parameters(node, scope)
            case ast.Lambda():
                self._seed_parameters(node, scope)
                self._add(self.program.introduced[node].index, RETURNED, self.evaluator.kinds(node.body))
            case ast.ClassDef():
                self._define_class(node, scope)
            case ast.Return(value=ast.expr() as value):
                self._add(scope.index, RETURNED, self.evaluator.kinds(value))
            case ast.Yield(value=ast.expr() as value):
                self._add(scope.index, RETURNED, box(self.evaluator.kinds(value)))
            case _:
                pass

    def _define_class(self, node: ast.ClassDef, scope: Scope) -> None:
        index = self.program.introduced[node].index
        self._bind_name(node.name, one(Tag.CLASS, index), scope)
        for base in node.bases:
            for parent in names(self.evaluator.kinds(base), Tag.CLASS):
                self.evaluator.derived.setdefault(int(parent), set()).add(index)

    def _decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Kinds:
        """What the name of a function stands for once its decorators have run."""
        index = self.program.introduced[node].index
        kinds = one(Tag.FUNCTION, index)
        for decorator in reversed(node.decorator_list):
            head = decorator.func if isinstance(decorator, ast.Call) else decorator
            makers = self.evaluator.kinds(head) | self.evaluator.kinds(decorator)
            for name in names(makers, Tag.NAME):
                if name in KERNEL_MAKERS:
                    kinds = self.evaluator.as_kernels(one(Tag.FUNCTION, index), KERNEL_MAKERS[name])
                elif name in HOST_JITS:
                    self.evaluator.host_jits.add(index)
            for wrapper in names(self.evaluator.kinds(decorator), Tag.FUNCTION):
                self._add_parameter(int(wrapper), 0, kinds)
                kinds |= self.evaluator.cell(int(wrapper), RETURNED)
        return kinds

    def _seed_parameters(self, node: FunctionNode, scope: Scope) -> None:
        """Give `self` its class, every default its value, and the inputs of the entry's forward their kind."""
        index = self.program.introduced[node].index
        parameters = [*node.args.posonlyargs, *node.args.args]
        for parameter, default in zip(reversed(parameters), reversed(node.args.defaults), strict=False):
            self._add(index, parameter.arg, self.evaluator.kinds(default))
        for parameter, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            if value is not None:
                self._add(index, parameter.arg, self.evaluator.kinds(value))
        if not scope.is_class or isinstance(node, ast.Lambda) or "staticmethod" in self.evaluator.decorators(index):
            return
        if parameters:
            own = Tag.CLASS if "classmethod" in self.evaluator.decorators(index) else Tag.INSTANCE
            self._add(index, parameters[0].arg, one(own, scope.index))
        if node.name == "forward" and scope.name == self.entry:
            for parameter in (*parameters[1:], *node.args.kwonlyargs):
                plain = isinstance(parameter.annotation, ast.Name) and parameter.annotation.id in _NUMBER_TYPES
                self._add(index, parameter.arg, NOTHING if plain else INPUT)
            for rest in filter(None, (node.args.vararg, node.args.kwarg)):
                self._add(index, rest.arg, box(INPUT))

    def _flow(self, node: ast.Call) -> None:
        """Pass the arguments of a call to the parameters of whatever it may call."""
        for kind in self.evaluator.kinds(node.func):
            match kind.tag:
                case Tag.FUNCTION | Tag.METHOD if not kind.boxed:
                    self._pass_arguments(kind, node)
                case Tag.CLASS if not kind.boxed:
                    self._pass_to_methods(self.evaluator.class_member(int(kind.name), "__init__"), node)
                case Tag.INSTANCE if not kind.boxed:
                    self._pass_to_methods(self.evaluator.called_instance(int(kind.name)), node)
                case Tag.NAME:
                    self._call_outside(kind.name, node)
                case _:
                    pass
        if isinstance(node.func, ast.Attribute) and node.func.attr in _GROWS:
            self._assign(node.func.value, box(self.evaluator.given(node)))

    def _call_outside(self, name: str, node: ast.Call) -> None:
        base = node.func.value if isinstance(node.func, ast.Attribute) else None
        arguments = node.args
        if name in _REGISTERS and base is not None and len(arguments) > 1:
            self._set_attribute(base, self.evaluator.constant(arguments[0]), self.evaluator.kinds(arguments[1]))
        elif name in {"setattr", "object.__setattr__"} and len(arguments) > 2:
            self._set_attribute(arguments[0], self.evaluator.constant(arguments[1]), self.evaluator.kinds(arguments[2]))
        elif name in {"map", "functools.reduce", "filter"} and arguments:
            elements = unbox(NOTHING.union(*(self.evaluator.kinds(argument) for argument in arguments[1:])))
            for function in only(self.evaluator.kinds(arguments[0]), Tag.FUNCTION, Tag.METHOD):
                self._add_parameter(int(function.name), int(function.tag is Tag.METHOD), elements)

    def _pass_to_methods(self, functions: Kinds, node: ast.Call) -> None:
        for function in only(functions, Tag.FUNCTION, Tag.METHOD):
            self._pass_arguments(Kind(Tag.METHOD, function.name), node)

    def _pass_arguments(self, function: Kind, node: ast.Call) -> None:
        target = self.program.scopes[int(function.name)].function
        if target is None:
            return
        place = int(function.tag is Tag.METHOD)
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                spread = unbox(self.evaluator.kinds(argument.value))
                for later in range(place, len(target.args.posonlyargs) + len(target.args.args) + 1):
                    self._add_parameter(int(function.name), later, spread)
                break
            self._add_parameter(int(function.name), place, self.evaluator.kinds(argument))
            place += 1
        self._pass_keywords(int(function.name), target, node)

    def _pass_keywords(self, index: int, target: FunctionNode, node: ast.Call) -> None:
        known = [parameter.arg for parameter in (*target.args.posonlyargs, *target.args.args, *target.args.kwonlyargs)]
        for keyword in node.keywords:
            value = self.evaluator.kinds(keyword.value)
            if keyword.arg in known:
                self._add(index, keyword.arg, value)
            elif keyword.arg is None:
                for name in known:
                    self._add(index, name, unbox(value))
            elif target.args.kwarg is not None:
                self._add(index, target.args.kwarg.arg, box(value))

    def _add_parameter(self, index: int, place: int, kinds: Kinds) -> None:
        function = self.program.scopes[index].function
        if function is None:
            return
        parameters = [*function.args.posonlyargs, *function.args.args]
        if place < len(parameters):
            self._add(index, parameters[place].arg, kinds)
        elif function.args.vararg is not None:
            self._add(index, function.args.vararg.arg, box(kinds))

    def _assign_expression(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ((ast.Tuple(elts=left) | ast.List(elts=left)), ast.Tuple(elts=right)) if len(left) == len(right):
                for each, part in zip(left, right, strict=True):
                    self._assign_expression(each, part)
            case _:
                self._assign(target, self.evaluator.kinds(value))

    def _assign(self, target: ast.expr, kinds: Kinds) -> None:
        match target:
            case ast.Name(id=name):
                self._bind_name(name, kinds, self.program.scope_of[target])
            case ast.Attribute(value=base, attr=attribute):
                self._set_attribute(base, attribute, kinds)
            case ast.Subscript(value=base):
                self._assign(base, box(kinds))
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._assign(part, unbox(kinds))
            case ast.Starred(value=inner):
                self._assign(inner, box(kinds))
            case _:
                pass

    def _set_attribute(self, base: ast.expr, attribute: str | None, kinds: Kinds) -> None:
        if attribute is not None:
            for kind in only(self.evaluator.kinds(base), Tag.INSTANCE, Tag.CLASS):
                self._add(int(kind.name), attribute, kinds)

    def _bind_name(self, name: str, kinds: Kinds, scope: Scope) -> None:
        home = self.program.home(name, scope)
        if home is not None:
            hides = name in _ALWAYS_KNOWN and not only(kinds, Tag.FUNCTION, Tag.CLASS)
            self._add(home.index, name, kinds | one(Tag.NAME, name) if hides else kinds)

    def _add(self, scope: int, name: str, kinds: Kinds) -> None:
        cell = self.evaluator.cells.setdefault((scope, name), set())
        fresh = sorted(kinds - cell, key=lambda kind: (kind.tag.name, kind.name, kind.boxed))[: max(0, MAX_KINDS - len(cell))]
        if fresh:
            cell.update(fresh)
            self.changed = True
