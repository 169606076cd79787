"""What trusted code inside the worker reads about the process it runs in, before and after foreign code came in.

The originals are taken when this module is imported, which is before any program is: the one place with state at import.
What gets past: native code can restore everything it changed before it is looked at. The clock and the verdict are elsewhere.
"""

import builtins
import hashlib
import importlib
import os
import sys
import threading
import time
from collections.abc import Mapping

import torch

from kernelguard.terms.evidence import WorkerState

WATCHED = (
    ("time", "perf_counter"), ("time", "perf_counter_ns"), ("time", "monotonic"), ("time", "monotonic_ns"),
    ("time", "time"), ("time", "time_ns"), ("time", "process_time"), ("time", "sleep"),
    ("torch", "allclose"), ("torch", "equal"), ("torch", "isclose"), ("torch", "manual_seed"), ("torch", "rand"),
    ("torch", "randn"), ("torch", "randint"), ("torch", "empty"), ("torch", "empty_like"), ("torch", "zeros"),
    ("torch", "rand_like"), ("torch", "randn_like"), ("torch.testing", "assert_close"),
    ("torch.cuda", "synchronize"), ("torch.cuda", "current_stream"), ("torch.cuda", "manual_seed_all"),
    ("torch.cuda", "Event"), ("torch.cuda.Event", "elapsed_time"), ("torch.cuda.Event", "record"),
    ("torch.cuda.Event", "synchronize"), ("torch.cuda.Event", "query"), ("torch.cuda.Event", "wait"),
    ("torch.cuda.Stream", "synchronize"), ("torch.cuda.Stream", "wait_stream"), ("torch.cuda.Stream", "record_event"),
    ("torch.Tensor", "data_ptr"), ("torch.Tensor", "clone"), ("torch.Tensor", "copy_"), ("torch.Tensor", "to"),
    ("torch.Tensor", "__eq__"), ("torch.Tensor", "allclose"), ("torch.Tensor", "untyped_storage"), ("torch.Tensor", "view"),
    ("torch.nn.Module", "__call__"), ("torch.nn.Module", "_call_impl"), ("torch.nn.Module", "to"),
    ("builtins", "isinstance"), ("builtins", "type"), ("builtins", "id"), ("builtins", "len"), ("builtins", "abs"),
    ("builtins", "print"), ("builtins", "open"), ("builtins", "__import__"), ("os", "_exit"), ("os", "kill"),
    ("json", "loads"), ("json", "dumps"), ("gc", "collect"), ("math", "isfinite"), ("statistics", "median"),
    ("numpy", "allclose"), ("numpy.testing", "assert_allclose"), ("sys", "exit"), ("sys", "settrace"),
)  # fmt: skip

_DISABLE_DYNAMO = torch._compile._disable_dynamo  # noqa: SLF001 - dynamo's import wraps torch.manual_seed by it
_OWN_PACKAGES = ("kernelguard.gate", "kernelguard.wire", "kernelguard.worker")


def _resolve(owner: str, name: str) -> object:
    """The object that stands at `owner.name` now, read from the type's own dict where `owner` is a class."""
    module, _, rest = owner, "", ""
    while module not in sys.modules and "." in module:
        module, _, tail = module.rpartition(".")
        rest = f"{tail}.{rest}" if rest else tail
    thing: object = sys.modules.get(module)
    for part in filter(None, rest.split(".")):
        thing = getattr(thing, part, None)
    return getattr(thing, name, None)


def _unwrapped(thing: object) -> object:
    """What torch's own wrapper against dynamo is around; anything that only looks like one stays what it is."""
    wrapping = _DISABLE_DYNAMO.__code__
    own = any(getattr(thing, "__code__", None) is part for part in wrapping.co_consts)
    return getattr(thing, "__wrapped__", thing) if own else thing


def _fingerprint(thing: object) -> str:
    """Identity and, for Python functions, code: a swapped `__code__` changes it though the object is the same.

    Dynamo wraps some functions of torch when it is first imported, which honest operators do; what it wraps counts.
    """
    thing = _unwrapped(thing)
    code = getattr(thing, "__code__", None)
    body = (
        hashlib.sha256(code.co_code + repr(code.co_consts).encode() + repr(code.co_names).encode()).hexdigest()[:16]
        if code
        else ""
    )
    return f"{id(thing):x}:{body}"


def _own_functions() -> dict[str, str]:
    """Fingerprints of every function of ours that runs in this process."""
    found: dict[str, str] = {}
    for module_name in sorted(name for name in sys.modules if name.startswith(_OWN_PACKAGES)):
        for name, thing in sorted(vars(sys.modules[module_name]).items()):
            if callable(thing) and getattr(thing, "__module__", None) == module_name:
                found[f"{module_name}.{name}"] = _fingerprint(thing)
                if isinstance(thing, type):
                    found |= {
                        f"{module_name}.{name}.{key}": _fingerprint(value)
                        for key, value in vars(thing).items()
                        if callable(value)
                    }
    return found


def _framework() -> dict[str, str]:
    """Fingerprints of every function and method that torch offers: a patched operator slows or bends whoever else calls it."""
    owners = {"torch": torch, "torch.nn.functional": torch.nn.functional, "torch.Tensor": torch.Tensor}
    found: dict[str, str] = {}
    for label, owner in owners.items():
        for name in dir(owner):
            thing = getattr(owner, name, None)
            stable = thing is getattr(owner, name, None)  # bound methods are made anew at every look
            if stable and callable(thing) and not isinstance(thing, type):
                found[f"{label}.{name}"] = _fingerprint(thing)
    return found


def functions() -> dict[str, str]:
    """Fingerprints of the timing and checking functions, of the framework's, and of our own."""
    watched = {
        f"{owner}.{name}": _fingerprint(_resolve(owner, name)) for owner, name in WATCHED if owner.split(".")[0] in sys.modules
    }
    return watched | _framework() | _own_functions()


def flags() -> dict[str, str]:
    """The backend's settings that change speed, precision or determinism."""
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    readings = {
        "cuda.matmul.allow_tf32": lambda: cuda.matmul.allow_tf32,
        "cuda.matmul.allow_fp16_reduced_precision_reduction": lambda: cuda.matmul.allow_fp16_reduced_precision_reduction,
        "cuda.matmul.allow_bf16_reduced_precision_reduction": lambda: cuda.matmul.allow_bf16_reduced_precision_reduction,
        "cudnn.allow_tf32": lambda: cudnn.allow_tf32,
        "cudnn.enabled": lambda: cudnn.enabled,
        "cudnn.benchmark": lambda: cudnn.benchmark,
        "cudnn.deterministic": lambda: cudnn.deterministic,
        "float32_matmul_precision": torch.get_float32_matmul_precision,
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled,
        "default_dtype": torch.get_default_dtype,
        "default_device": lambda: torch.get_default_device() if hasattr(torch, "get_default_device") else "cpu",
        "grad_enabled": torch.is_grad_enabled,
        "autocast": torch.is_autocast_enabled,
        "num_threads": torch.get_num_threads,
        "flush_denormal": lambda: (torch.tensor([1e-40]) + 0).item() == 0.0,
        "switch_interval": sys.getswitchinterval,
        "recursion_limit": sys.getrecursionlimit,
    }
    return {name: str(_quietly(read)) for name, read in readings.items()}


def _quietly(read: object) -> object:
    try:
        return read() if callable(read) else read
    except (RuntimeError, AttributeError) as error:
        return f"unreadable: {type(error).__name__}"


def environment() -> dict[str, str]:
    """Every variable's name with a digest of its value: what differs shows, what it says stays here."""
    return {name: hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()[:12] for name, value in _environ().items()}


def _environ() -> Mapping[str, str]:
    return dict(os.environ)


def python_threads() -> tuple[str, ...]:
    """Names of Python threads other than this one, also of those that `threading` was not told about."""
    own = threading.get_ident()
    names = {thread.ident: f"{thread.name}" for thread in threading.enumerate()}
    return tuple(sorted(names.get(ident, "unregistered") for ident in _frames() if ident != own))


def _frames() -> Mapping[int, object]:
    return sys._current_frames()  # noqa: SLF001 - the only way to see threads that `threading` does not know


def look(moment: str) -> WorkerState:
    """Everything at once."""
    return WorkerState(
        moment=moment, flags=flags(), environment=environment(), functions=functions(), python_threads=python_threads()
    )


_WARM = tuple(
    importlib.import_module(name) for name in ("json", "gc", "math", "statistics", "torch.testing", "numpy", "numpy.testing")
)
_ORIGINALS = (builtins.isinstance, time.perf_counter_ns)
