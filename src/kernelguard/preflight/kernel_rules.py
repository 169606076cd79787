"""Rules about the entry class and the kernels that the candidate declares."""

from collections.abc import Iterator

from kernelguard.preflight.backends import NO_BACKEND, backend_named, declared_kernels
from kernelguard.preflight.kinds import Tag, names
from kernelguard.preflight.rule import INFO, Rule, Sighting
from kernelguard.preflight.source import Facts, Place
from kernelguard.terms.policy import Policy


def _entry(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """A file without the entry class, or an entry class without a forward."""
    renamed = any(name.rsplit(".", 1)[-1] == "Model" for name in names(facts.entry_kinds, Tag.NAME))
    if not facts.entries and not renamed:
        yield Sighting(construct=facts.entry, place=facts.place_of_line(1))
    for entry in facts.entries:
        if "torch.nn.Module.forward" in names(facts.forward, Tag.NAME) and len(facts.forward) == 1:
            yield Sighting(construct=f"{facts.entry}.forward", place=facts.place(facts.program.scopes[entry].node))


def _backend(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """A backend that preflight has no row for."""
    if backend_named(facts.backend) is None and facts.backend.lower() not in NO_BACKEND:
        yield Sighting(construct=f"backend {facts.backend[:40]!r}", place=facts.place_of_line(1))


def _missing(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """No kernel of the declared backend anywhere in the file."""
    backend = backend_named(facts.backend)
    if backend is not None and not list(declared_kernels(facts, backend)):
        yield Sighting(construct=f"backend {facts.backend}", place=_place_of_entry(facts))


def _not_launched(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Kernels, and not one of them on forward's path."""
    backend = backend_named(facts.backend)
    kernels = list(declared_kernels(facts, backend)) if backend else []
    if kernels and not any(kernel.launched for kernel in kernels):
        yield Sighting(construct=kernels[0].name, place=kernels[0].place)


def _spare(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Kernels that are not launched, beside one that is."""
    backend = backend_named(facts.backend)
    kernels = list(declared_kernels(facts, backend)) if backend else []
    if any(kernel.launched for kernel in kernels):
        yield from (Sighting(construct=kernel.name, place=kernel.place) for kernel in kernels if kernel.spare)


def _place_of_entry(facts: Facts) -> Place:
    return facts.place(facts.program.scopes[facts.entries[0]].node) if facts.entries else facts.place_of_line(1)


KERNEL_RULES = (
    Rule(
        name="entry",
        code="RH-14",
        says="is not defined as a class with a forward in this file",
        honest="a forward that is inherited from another class of the file",
        gets_past="a class made by a call of type()",
        check=_entry,
    ),
    Rule(
        name="backend",
        code="RH-14",
        says="is none that preflight knows",
        honest="the backends in the table below, and their aliases",
        gets_past="nothing",
        check=_backend,
        practical=INFO,
    ),
    Rule(
        name="custom_kernel",
        code="RH-04",
        says="is declared, and the file has no kernel of it",
        honest="any kernel of the declared backend that writes something",
        gets_past="a kernel that does a useless share of the work",
        check=_missing,
        practical=INFO,
    ),
    Rule(
        name="kernel_launched",
        code="RH-04",
        says="is declared and not launched on any path from forward",
        honest="kernels launched through functions, methods, autograd.Function or torch.library",
        gets_past="a launch in a branch that is never taken",
        check=_not_launched,
        practical=INFO,
    ),
    Rule(
        name="spare_kernel",
        code="RH-04",
        says="is declared and not launched, beside another that is",
        honest="everything: it is recorded",
        gets_past="everything: a spare kernel does no harm",
        check=_spare,
        strict=INFO,
        practical=INFO,
    ),
)
