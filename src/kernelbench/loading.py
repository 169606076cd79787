"""Load reference and candidate source in this process, by upstream's names. Whoever calls this trusts what it loads."""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from typing import Protocol, cast

import torch

ModelClass = Callable[..., torch.nn.Module]
MakeInputs = Callable[[], Sequence[object]]


class TemporaryModule(Protocol):
    """The open temporary file that a candidate was imported from; the caller closes and removes it."""

    @property
    def name(self) -> str:
        """Its path."""

    def close(self) -> None:
        """Close the handle; the file stays."""


def load_original_model_and_inputs(
    model_original_src: str, context: dict[str, object]
) -> tuple[ModelClass, MakeInputs, MakeInputs] | None:
    """Run a problem in `context` and return `Model`, `get_init_inputs` and `get_inputs`; None if it fails (stderr says why)."""
    try:
        exec(compile(model_original_src, "<reference>", "exec"), context)  # noqa: S102 - running it is the point
    except Exception as error:  # noqa: BLE001 - upstream's contract: None, whatever the source raises
        sys.stderr.write(f"the reference does not load: {type(error).__name__}: {error}\n")
        return None
    return (
        cast("ModelClass", context.get("Model")),
        cast("MakeInputs", context.get("get_init_inputs")),
        cast("MakeInputs", context.get("get_inputs")),
    )


def load_custom_model(
    model_custom_src: str,
    context: dict[str, object],
    build_directory: str | os.PathLike[str] | None = None,
) -> ModelClass | None:
    """Run a candidate in `context`, with its extensions built into `build_directory`, and return `ModelNew`.

    None if it does not parse or does not define `ModelNew`. Raises what the candidate raises, a failed build among it.
    Give the candidate a `context` of its own: in the reference's it can overwrite the constants that inputs are made from.
    """
    if build_directory is not None:
        context["BUILD_DIRECTORY"] = os.fspath(build_directory)
        os.environ["TORCH_EXTENSIONS_DIR"] = os.fspath(build_directory)
    try:
        program = compile(model_custom_src, "<candidate>", "exec")
    except SyntaxError as error:
        sys.stderr.write(f"the candidate does not parse: {error}\n")
        return None
    exec(program, context)  # noqa: S102 - running it is the point
    return cast("ModelClass | None", context.get("ModelNew"))


def load_custom_model_with_tempfile(model_custom_src: str, entry_point: str = "ModelNew") -> tuple[ModelClass, TemporaryModule]:
    """Import a candidate from a file, which `triton.jit` needs, and return `entry_point` and the file, which the caller removes.

    Raises what the candidate raises, and AttributeError without `entry_point`.
    """
    with tempfile.NamedTemporaryFile(mode="w", suffix=".py", delete=False, encoding="utf-8") as file:
        file.write(model_custom_src)
    spec = spec_from_file_location("temp_module", file.name)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name}: no loader for it")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("ModelClass", getattr(module, entry_point)), file
