"""What one problem file declares and does: its constants, its shapes at full size, and a run at the size it is set to."""

import contextlib
import hashlib
import importlib.util
import inspect
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch
from torch.utils._python_dispatch import TorchDispatchMode

SEED = 42


class Operations(TorchDispatchMode):
    """Count the operations that run, by name and shapes of their tensors, without those that move no data."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: Counter[str] = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        """Note the operation and run it."""
        if not func.is_view and func.__name__ not in {"detach.default", "_unsafe_view.default"}:
            shapes = (str(tuple(a.shape)) for a in args if isinstance(a, torch.Tensor))
            self.seen[" ".join((func.__name__, *shapes))] += 1
        return func(*args, **(kwargs or {}))


@dataclass(frozen=True, kw_only=True)
class Trace:
    """What one module does at reduced size: initial state and inputs by digest, outputs and final buffers by value."""

    names: list[str]
    state: list[object]
    inputs: list[object]
    outputs: list[torch.Tensor]
    operations: Counter[str]


def load(path: Path, name: str) -> ModuleType:
    """Import a problem file under a name of its own. Raises ImportError."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def constants(module: ModuleType) -> dict[str, object]:
    """The module-level numbers and sequences, in order."""
    return {k: v for k, v in vars(module).items() if not k.startswith("_") and isinstance(v, int | float | tuple | list)}


def signature(model: type, method: str) -> list[tuple[str, str, str]]:
    """Name, kind and default of each parameter but `self`; annotations are free. A class without the method takes none."""
    if method not in vars(model):
        return []
    parameters = list(inspect.signature(vars(model)[method]).parameters.values())
    return [(p.name, str(p.kind), repr(p.default)) for p in parameters[1:]]


def shapes(module: ModuleType) -> list[object]:
    """Inputs, state and output at full size on the meta device, as shapes and types."""
    with torch.device("meta"), torch.no_grad():
        model, inputs = module.Model(*module.get_init_inputs()), module.get_inputs()
        values = [*inputs, *model.state_dict().values(), model(*inputs)]
    return [(tuple(v.shape), str(v.dtype)) if isinstance(v, torch.Tensor) else v for v in values]


def digest(value: object) -> object:
    """A tensor as shape, type and SHA-256 of its bytes, anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    return tuple(value.shape), str(value.dtype), hashlib.sha256(value.contiguous().numpy().tobytes()).hexdigest()


def to_fp64(value: object, *, widen: bool = False) -> object:
    """A float tensor in fp64, if asked for spread over both signs, so that a clamp shows; anything else as it is."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    return value.double() * 8 - 4 if widen else value.double()


@contextlib.contextmanager
def fp64_by_default() -> Iterator[None]:
    """New tensors are fp64, so that a model that draws in `forward` draws in the type of its weights."""
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def trace(module: ModuleType) -> Trace:
    """Build the model and call it twice in training mode, on its own inputs and on widened ones."""
    torch.manual_seed(SEED)
    model = module.Model(*module.get_init_inputs())
    kept = {name: value for name, value in vars(model).items() if isinstance(value, torch.Tensor)}
    state = [digest(value.detach()) for value in (*model.state_dict().values(), *kept.values())]
    torch.manual_seed(SEED + 1)
    inputs = module.get_inputs()
    model.double()
    for name, value in kept.items():
        setattr(model, name, to_fp64(value))
    operations, outputs = Operations(), []
    with torch.no_grad(), fp64_by_default(), operations:
        for widen in (False, True):
            torch.manual_seed(SEED + 2)
            outputs.append(model(*(to_fp64(x, widen=widen) for x in inputs)).clone())
    outputs += [buffer.clone() for buffer in model.buffers()]
    names, inputs = list(model.state_dict()), [digest(x) for x in inputs]
    return Trace(names=names, state=state, inputs=inputs, outputs=outputs, operations=operations.seen)
