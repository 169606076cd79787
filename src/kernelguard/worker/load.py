"""Turn a source file into a model on the device: import, construct under the weight seed, move."""

import importlib.util
import sys
import time
import traceback
from pathlib import Path

import torch

from kernelguard.gate.memory import DTYPES, input_view
from kernelguard.terms.evidence import LoadFailure, WorkerState
from kernelguard.wire.messages import (
    Load,
)
from kernelguard.wire.tree import unpack
from kernelguard.worker import probes

MODULE = "kernelguard_program"
MAX_TEXT = 8_000


class Failed(Exception):
    """The program did not load; `failure` says where and why."""

    def __init__(self, failure: LoadFailure) -> None:
        super().__init__(failure.error)
        self.failure = failure


def failure(stage: str, error: BaseException) -> LoadFailure:
    """What was raised, with the end of its text, which is where compilers and tracebacks say what matters."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-12))
    return LoadFailure(stage=stage, error=f"{type(error).__name__}: {str(error)[:300]}", text=text[-MAX_TEXT:])


def import_program(path: str, entry: str) -> type:
    """Execute the file as a module and return its `entry` class. Raises Failed."""
    try:
        spec = importlib.util.spec_from_file_location(MODULE, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{Path(path).name} is not an importable file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[MODULE] = module  # Triton and pickle-like tools look a function's module up by name
        spec.loader.exec_module(module)
        found = getattr(module, entry, None)
        if not isinstance(found, type):
            raise AttributeError(f"the program defines no class {entry}")  # noqa: TRY004 - it is a missing name
        return found
    except BaseException as error:
        raise Failed(failure("import", error)) from error


def construct(program: type, order: Load, slots: list[torch.Tensor], device: str) -> object:
    """`program(*init_args)` on the CPU under the weight seed, as upstream does, then moved. Raises Failed."""
    stage = "construct"
    try:
        tensors = [input_view(slots[spec.slot], spec).clone() for spec in order.init_tensors]
        arguments = unpack(order.init_args, tensors)
        torch.manual_seed(order.weight_seed)
        model = program(*arguments)  # type: ignore[misc]  # init args were packed from a list
        stage = "move"
        return model.to(device=device, dtype=DTYPES[order.dtype]) if isinstance(model, torch.nn.Module) else model
    except BaseException as error:
        raise Failed(failure(stage, error)) from error


def load(order: Load, slots: list[torch.Tensor], device: str) -> tuple[object, tuple[WorkerState, ...], float, float]:
    """The model, the states after import and after construction, and the seconds that both took."""
    started = time.monotonic()
    program = import_program(order.path, order.entry)
    imported = time.monotonic()
    after_import = probes.look("after import")
    model = construct(program, order, slots, device)
    return model, (after_import, probes.look("after construction")), imported - started, time.monotonic() - imported
