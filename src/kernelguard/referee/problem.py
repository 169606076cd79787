"""The reference's source in trusted hands: it draws the inputs, lends the slots, and serves as fp64 oracle."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch

from kernelguard.gate.memory import DTYPES, Lender, dtype_name, flat_bytes, is_dense
from kernelguard.referee.compare import Tolerance
from kernelguard.referee.draws import draw
from kernelguard.terms.errors import ProblemError
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Precision
from kernelguard.wire.gate_messages import (
    InputSpec,
)
from kernelguard.wire.referee_messages import (
    OpenProblem,
)
from kernelguard.wire.tree import pack, unpack

DTYPE_OF = {Precision.FP32: torch.float32, Precision.FP16: torch.float16, Precision.BF16: torch.bfloat16}
BURST_BYTES = 1 << 30  # all input sets of a burst together
HEADROOM = 1.25
ORACLE_FACTOR = 6
ORACLE_HOST_BYTES = 8 << 30
TRIAL_SEED = 0x5EED  # the draw that only tells the shapes; no call uses it


@dataclass(slots=True)
class Arguments:
    """One set of forward arguments in the referee's own memory: nested structure as text, its tensors dense."""

    structure: str
    tensors: list[torch.Tensor]


@dataclass(slots=True)
class Slot:
    """Memory that both workers map: the referee's own view of it and what the workers need to map it."""

    memory: torch.Tensor
    handle: str
    descriptor: int


class ProblemDesk:
    """One opened problem. Everything here is secret until a worker's GO."""

    def __init__(self, order: OpenProblem, lender: Lender) -> None:
        self.device = order.device
        self._precision = Precision(order.precision)
        self.tolerance = Tolerance.of(self._precision)
        self._weight_seed = order.weight_seed
        self._module = load_module(order.source)
        self._get_inputs = _function(self._module, "get_inputs")
        self.notes: list[str] = []
        trial = self.arguments(seed=TRIAL_SEED, kind=DrawKind.PLAIN, variant=0)
        self.input_bytes = sum(t.numel() * t.element_size() for t in trial.tensors)
        self.width = max(1, min(order.widths, BURST_BYTES // max(1, self.input_bytes)))
        init = self._initial_arguments()
        self.init_structure = init.structure
        sizes = [t.numel() * t.element_size() for _ in range(self.width) for t in trial.tensors]
        self._per_set = len(trial.tensors)
        self.slots = [Slot(*lender.lend(size)) for size in sizes]
        self._init_slots = [Slot(*lender.lend(t.numel() * t.element_size())) for t in init.tensors]
        self.init_specs = tuple(spec_of(t, len(self.slots) + number) for number, t in enumerate(init.tensors))
        for slot, tensor in zip(self._init_slots, init.tensors, strict=True):
            slot.memory.copy_(flat_bytes(tensor))
        self._oracle: object = None

    def note(self, text: str) -> None:
        """Remember a limit once."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def all_slots(self) -> list[Slot]:
        """Slots for the input sets, then those that hold tensors among the constructor's arguments."""
        return [*self.slots, *self._init_slots]

    def arguments(self, *, seed: int, kind: DrawKind, variant: int) -> Arguments:
        """Draw one set, cast it to the evaluation's dtype and move it to the device."""
        values = draw(self._get_inputs, seed=seed, device=self.device, kind=kind, variant=variant)
        return self._settle(values)

    def specs(self, arguments: Arguments, set_number: int) -> tuple[InputSpec, ...]:
        """Where the tensors of a set stand when it is the `set_number`th of a call. Raises ProblemError if they do not fit."""
        if len(arguments.tensors) != self._per_set:
            raise ProblemError("get_inputs() returns a varying number of tensors")
        first = set_number * self._per_set
        for number, tensor in enumerate(arguments.tensors):
            if tensor.numel() * tensor.element_size() > self.slots[first + number].memory.numel():
                raise ProblemError("get_inputs() returns tensors whose size grows from call to call")
        return tuple(spec_of(tensor, first + number) for number, tensor in enumerate(arguments.tensors))

    def oracle(self, arguments: Arguments) -> list[torch.Tensor] | str:
        """The reference's outputs in fp64 for these arguments, or why they can't be had. Never raises."""
        try:
            if not self._fits():
                return "it does not fit into memory"
            if self._oracle is None:
                self._oracle = self._construct().to(device=self.device, dtype=torch.float64)
            values = [t.double() if t.is_floating_point() else t for t in arguments.tensors]
            with torch.no_grad():
                result = self._oracle(*_unpacked(arguments.structure, values))  # type: ignore[operator]
            outputs: list[torch.Tensor] = []

            def take(item: object) -> int | None:
                if not isinstance(item, torch.Tensor):
                    return None
                outputs.append(item)
                return len(outputs) - 1

            pack(result, take)
        except Exception as error:  # noqa: BLE001 - the problem's own code in a dtype it was not written for
            return f"{type(error).__name__}: {str(error)[:200]}"
        return outputs

    def _fits(self) -> bool:
        """Inputs and outputs in fp64, and as much again for what lies between."""
        needed = ORACLE_FACTOR * self.input_bytes
        free = torch.cuda.mem_get_info()[0] if self.device == "cuda" else ORACLE_HOST_BYTES
        return needed < free

    def _construct(self) -> torch.nn.Module:
        values = list(_function(self._module, "get_init_inputs")()) if hasattr(self._module, "get_init_inputs") else []
        torch.manual_seed(self._weight_seed)
        return self._module.Model(*values)  # type: ignore[no-any-return]  # checked by load_module

    def _initial_arguments(self) -> Arguments:
        maker = getattr(self._module, "get_init_inputs", None)
        torch.manual_seed(self._weight_seed)
        values = list(maker()) if callable(maker) else []
        settled = self._settle(values)
        settled.tensors = [tensor.to(self.device) for tensor in settled.tensors]
        return settled

    def _settle(self, values: Sequence[object]) -> Arguments:
        tensors: list[torch.Tensor] = []

        def take(item: object) -> int | None:
            if not isinstance(item, torch.Tensor):
                return None
            if item.device.type != self.device:
                self.note("host draws: inputs were made on the host and copied")
            tensors.append(self._cast(item))
            return len(tensors) - 1

        return Arguments(structure=pack(list(values), take), tensors=tensors)

    def _cast(self, tensor: torch.Tensor) -> torch.Tensor:
        """Floating tensors in the evaluation's dtype; integers and booleans stay what they are."""
        dtype = DTYPE_OF[self._precision] if tensor.is_floating_point() else tensor.dtype
        if dtype_name(dtype) not in DTYPES:
            raise ProblemError(f"inputs of dtype {dtype} can't be handed over")
        moved = tensor.detach().to(device=self.device, dtype=dtype)
        return moved if is_dense(moved.shape, moved.stride()) and moved.numel() else moved.contiguous()


def spec_of(tensor: torch.Tensor, slot: int) -> InputSpec:
    """How a worker finds this tensor in its slot."""
    return InputSpec(slot=slot, dtype=dtype_name(tensor.dtype), shape=tuple(tensor.shape), strides=tuple(tensor.stride()))


def load_module(source: str) -> ModuleType:
    """The reference as a module. Raises ProblemError with one line when it is none."""
    with tempfile.TemporaryDirectory(prefix="kernelguard-referee-") as folder:
        path = Path(folder) / "reference.py"
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("kernelguard_reference", path)
        if spec is None or spec.loader is None:
            raise ProblemError("the reference is not an importable file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise ProblemError(f"the reference does not load: {type(error).__name__}: {str(error)[:200]}") from error
    for name in ("Model", "get_inputs"):
        if not callable(getattr(module, name, None)):
            raise ProblemError(f"the reference defines no {name}")
    return module


def _function(module: ModuleType, name: str) -> Callable[[], Sequence[object]]:
    found: Callable[[], Sequence[object]] = getattr(module, name)
    return found


def _unpacked(structure: str, tensors: Sequence[torch.Tensor]) -> Sequence[object]:
    value = unpack(structure, tensors)
    return value if isinstance(value, list) else [value]
