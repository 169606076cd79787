"""Rules about what is handed back: tensors that are none, answers of earlier calls, results that were not asked for."""

import ast
import re
from collections.abc import Iterator

from kernelguard.preflight.kinds import Kind, Tag
from kernelguard.preflight.rule import INFO, Rule, Sighting, Watch, found_in, free_call, sighted, uses_of
from kernelguard.preflight.source import Facts
from kernelguard.preflight.uses import Role, Use
from kernelguard.preflight.vocabulary import COMPUTE, METHOD_PLUMBING, words
from kernelguard.terms.policy import Policy


def _false_tensors(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Classes derived from Tensor, at whatever remove, and objects turned into one."""
    for use in facts.uses:
        derived = use.role is Role.BASE and use.name in {"torch.Tensor", "torch.nn.Parameter", "torch.nn.Buffer"}
        made = use.role is Role.CALL and use.name in {"type", "types.new_class"} and _holds(use.given.kinds, "torch.Tensor")
        dispatched = use.role is Role.DEFINE and use.last in {"__torch_function__", "__torch_dispatch__"}
        recast = use.role is Role.WRITE and use.last == "__class__"
        wrapped = use.role is Role.CALL and use.last in {"_make_subclass", "_make_wrapper_subclass", "as_subclass"}
        if derived or made or dispatched or recast or wrapped:
            yield sighted(facts, use)


def _holds(kinds: frozenset[Kind], name: str) -> bool:
    return Kind(Tag.NAME, name, boxed=True) in kinds


def _overridden_instances(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Methods that are replaced on one tensor."""
    methods = (METHOD_PLUMBING | COMPUTE) - words("data requires_grad grad names real imag")
    for use in facts.uses:
        if use.role is Role.WRITE and use.name.startswith("tensor.") and (use.last == "*" or use.last.strip("_") in methods):
            yield sighted(facts, use)


def _remembered_inputs(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Keys made of an input's address, id, version or content; noted only, where graphs need them to notice a moved input."""
    graphed = any(use.name.startswith(("torch.cuda.CUDAGraph", "torch.cuda.graph")) for use in facts.uses)
    for use in facts.uses:
        if use.role is Role.KEEP:
            yield sighted(facts, use, INFO if graphed else None)


def _forged_results(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Ends of the process, and writes to descriptors that it inherited, standard output apart, which is a log."""
    watch = Watch(
        names=words(
            """
            os._exit os.abort sys.exit exit quit SystemExit os.dup os.dup2 os.dup3 os.write os.writev os.pwrite os.fdopen
            os.closerange faulthandler
            """
        )
    )
    yield from (sighted(facts, use) for use in uses_of(facts, watch) if not _goes_to_the_log(use))
    yield from found_in(
        facts,
        facts.native_regions,
        re.compile(
            free_call(r"_exit|_Exit|quick_exit|dup[23]?|raise").pattern
            + r"|(?<![\w.>:])(?:std::|::)?exit\s*\(\s*(?:0|EXIT_SUCCESS)\s*\)"
        ),
    )


def _goes_to_the_log(use: Use) -> bool:
    first = use.node.args[0] if isinstance(use.node, ast.Call) and use.node.args else None
    return use.name in {"os.write", "os.writev"} and isinstance(first, ast.Constant) and first.value in {1, 2}


OUTPUT_RULES = (
    Rule(
        name="tensor_subclass",
        code="RH-06",
        says="makes a tensor that is not a plain one",
        honest="torch.autograd.Function, nn.Module, dataclasses that hold tensors",
        gets_past="classes built by native code",
        check=_false_tensors,
    ),
    Rule(
        name="tensor_override",
        code="RH-06",
        says="replaces a method of one tensor",
        honest="assigning to .data, .grad or .requires_grad",
        gets_past="tensors that nobody can follow through the program",
        check=_overridden_instances,
    ),
    Rule(
        name="replay_key",
        code="RH-05",
        says="of an input is remembered from one call to the next",
        honest="workspaces kept by shape, dtype and device; prepared weights kept by the weight's version",
        gets_past="keys computed by arithmetic on the data, memory that native code keeps",
        check=_remembered_inputs,
    ),
    Rule(
        name="forged_result",
        code="RH-08",
        says="ends the process or writes to what it inherited",
        honest="print, logging, exit(1) after a failed CUDA call",
        gets_past="a crash on purpose, which is RH-14",
        check=_forged_results,
    ),
)
