"""Loading reference and candidate, each into a module of its own."""

import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch

from kernelguard.native.attempts import Failure, attempt
from kernelguard.terms.errors import ProblemError

IMPORTED_BACKENDS = frozenset({"triton", "tilelang", "cute"})  # upstream imports these, and executes the others in a shared dict


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """The three names that a problem must define, and its namespace."""

    model: Callable[..., torch.nn.Module]
    get_inputs: Callable[[], Sequence[object]]
    get_init_inputs: Callable[[], Sequence[object]]
    namespace: Mapping[str, object]


def load_program(source: str, path: Path, names: Mapping[str, object] | None = None) -> types.ModuleType:
    """Run `source` as a module that lives at `path`, so that `inspect.getsource` (Triton needs it) works.

    `names` are in its namespace beforehand, as copies: assigning them does not reach the module they came from.
    Raises whatever the program raises.
    """
    path.write_text(source, encoding="utf-8")
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    own = set(vars(module))
    vars(module).update({name: value for name, value in (names or {}).items() if name not in own})
    sys.modules[path.stem] = module
    exec(compile(source, str(path), "exec"), vars(module))  # noqa: S102 - running the program is the point
    return module


def load_reference(source: str, directory: Path) -> Reference:
    """Load a problem. Raises ProblemError if it does not run or lacks one of its three names."""
    loaded = attempt(lambda: load_program(source, directory / "kernelbench_reference.py"))
    if isinstance(loaded, Failure):
        raise ProblemError(f"the reference does not load: {loaded.name}: {loaded.message}")
    missing = [name for name in ("Model", "get_inputs", "get_init_inputs") if not callable(getattr(loaded, name, None))]
    if missing:
        raise ProblemError(f"the reference does not define {', '.join(missing)}")
    return Reference(
        model=loaded.Model, get_inputs=loaded.get_inputs, get_init_inputs=loaded.get_init_inputs, namespace=vars(loaded)
    )


def load_candidate(
    source: str, backend: str, reference: Reference, directory: Path, build_dir: Path
) -> Callable[..., torch.nn.Module]:
    """Import a candidate, which compiles its extensions into `build_dir`, and return `ModelNew`.

    Upstream runs `cuda`, `hip` and `thunderkittens` candidates in the reference's own dictionary. Some rely on its imports, so
    they find its names here too, but in a copy: `batch_size = 1` in a candidate no longer changes what the reference draws.
    Raises whatever the candidate raises, and AttributeError without `ModelNew`.
    """
    shared = backend.lower() not in IMPORTED_BACKENDS
    names = {**reference.namespace, "BUILD_DIRECTORY": str(build_dir)} if shared else None
    module = load_program(source, directory / "kernelbench_candidate.py", names)
    if not hasattr(module, "ModelNew"):
        raise AttributeError("the candidate does not define ModelNew")
    return cast("Callable[..., torch.nn.Module]", module.ModelNew)


@contextmanager
def extensions_in(build_dir: Path) -> Iterator[None]:
    """Have `torch.utils.cpp_extension` build into `build_dir` meanwhile."""
    before = os.environ.get("TORCH_EXTENSIONS_DIR")
    os.environ["TORCH_EXTENSIONS_DIR"] = str(build_dir)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TORCH_EXTENSIONS_DIR"]
        else:
            os.environ["TORCH_EXTENSIONS_DIR"] = before
