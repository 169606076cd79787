"""What a kernel looks like in each backend: how one is declared, and what counts as launching it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kernelguard.preflight.native_text import has_loop, launched
from kernelguard.preflight.source import Facts, Place
from kernelguard.preflight.vocabulary import words


@dataclass(frozen=True, kw_only=True, slots=True)
class Backend:
    """One row. `family` is a language inside Python; `native` says whether device code or plain functions in C and C++ count.

    `marker` must show in the native code, `library` names templates of a kernel library that the code instantiates and launches.
    """

    declared: str
    launched: str
    family: str = ""
    device_code: bool = False
    host_code: bool = False
    marker: re.Pattern[str] | None = None
    library: re.Pattern[str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Declared:
    """One kernel of the declared backend. `spare`: forward does not launch it, and no other kernel uses it."""

    name: str
    place: Place
    launched: bool
    spare: bool


_CUTLASS = re.compile(r"\bcutlass::\w+::(?:device|kernel)::\w+")
_DEVICE_DECLARED = "a __global__ function in a string that torch.utils.cpp_extension (or a compiler run at import) builds"
_DEVICE_LAUNCHED = "<<<...>>> or a launch call in native code that forward's call leads to"
BACKENDS = {
    "triton": Backend(
        family="triton",
        declared="a function under @triton.jit (or gluon) that stores something",
        launched="a call of kernel[grid] on forward's path",
    ),
    "cuda": Backend(device_code=True, library=_CUTLASS, declared=_DEVICE_DECLARED, launched=_DEVICE_LAUNCHED),
    "hip": Backend(device_code=True, declared=_DEVICE_DECLARED, launched=_DEVICE_LAUNCHED),
    "thunderkittens": Backend(
        device_code=True,
        marker=re.compile(r"\bkittens\b|\b(?:warp|warpgroup)::|\b(?:st|rt|gl|sv|rv)_\w+"),
        library=re.compile(r"\bkittens::prototype::\w+"),
        declared=_DEVICE_DECLARED,
        launched=_DEVICE_LAUNCHED,
    ),
    "cute": Backend(
        family="cute",
        device_code=True,
        marker=re.compile(r"\b(?:cute|cutlass)\b"),
        library=_CUTLASS,
        declared="a function under @cutlass.cute.kernel, or a __global__ function that uses cute:: or cutlass::",
        launched="kernel(...).launch(...) on forward's path, or a launch in native code",
    ),
    "tilelang": Backend(
        family="tilelang",
        declared="a function under @T.prim_func or @tilelang.jit",
        launched="a call of what tilelang compiled, on forward's path",
    ),
    "cpp": Backend(
        host_code=True,
        declared="a C or C++ function in a string that torch.utils.cpp_extension (or a compiler run at import) builds",
        launched="a call on forward's path that leads to a loop",
    ),
}
ALIASES = {"cutlass": "cute", "tk": "thunderkittens", "rocm": "hip", "c": "cpp", "c++": "cpp"}
NO_BACKEND = words("torch pytorch python")  # declares no custom kernel, and so has none to show


def backend_named(name: str) -> Backend | None:
    """The row for a backend as the candidate spells it; None for one that nobody knows."""
    word = name.lower()
    return BACKENDS.get(ALIASES.get(word, word))


def declared_kernels(facts: Facts, backend: Backend) -> Iterator[Declared]:
    """The kernels of this backend that the candidate declares, in source order for each language."""
    for kernel in facts.kernels:
        if kernel.family == backend.family and kernel.writes:
            spare = not (kernel.launched or kernel.used_by_kernel)
            yield Declared(name=kernel.name, place=facts.place(kernel.node), launched=kernel.launched, spare=spare)
    if backend.device_code:
        yield from _device_kernels(facts, backend)
    if backend.host_code:
        for extension in facts.extensions:
            if has_loop(extension.whole.code):
                runs = has_loop(extension.reached.code)
                yield Declared(
                    name=f"what {extension.compiler} built", place=facts.place(extension.node), launched=runs, spare=not runs
                )


def _device_kernels(facts: Facts, backend: Backend) -> Iterator[Declared]:
    for extension in facts.extensions:
        if backend.marker is not None and not backend.marker.search(extension.native.quoted):
            continue
        run = launched(extension.native, extension.reached.code)
        place = facts.place(extension.node)
        for kernel in sorted(extension.native.kernels):
            runs = kernel in run or extension.called_directly
            spare = not runs and len(re.findall(rf"\b{re.escape(kernel)}\b", extension.native.code)) < 2
            yield Declared(name=kernel, place=place, launched=runs, spare=spare)
        template = backend.library.search(extension.whole.code) if backend.library else None
        if template is not None:
            runs = template.group() in extension.reached.code
            yield Declared(name=template.group(), place=place, launched=runs, spare=False)
    for region in facts.loose:
        if "__global__" in region.code:
            yield Declared(
                name="__global__ in a string that nothing compiles", place=facts.place_in(region, 0), launched=False, spare=True
            )
