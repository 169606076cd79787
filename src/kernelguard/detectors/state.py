"""Flags, environment, functions, threads and processes that changed once the program was there (RH-01, RH-07, RH-10).

The reference went through the same stages: what it changes too is no finding. Readings inside the process are claims; what
rests on them alone can be hidden by native code, so the clock and the comparison never do.
"""

from collections.abc import Iterator, Mapping

from kernelguard.terms.evidence import Evidence, Side, WorkerState
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Policy

BUILD_VARIABLES = {
    "CUDA_HOME", "CUDA_PATH", "TORCH_CUDA_ARCH_LIST", "CXX", "CC", "CUDAHOSTCXX", "MAX_JOBS", "TORCH_EXTENSIONS_DIR", "PATH",
    "NVCC_APPEND_FLAGS", "TORCH_USE_CUDA_DSA", "CUDA_LAUNCH_BLOCKING_OFF", "THUNDERKITTENS_ROOT",
}  # fmt: skip
SENSITIVE = (
    "CUDA", "NVIDIA", "PYTORCH", "TORCH", "CUBLAS", "CUDNN", "OMP", "MKL", "LD_", "PYTHON", "NCCL", "KMP", "GOMP", "MALLOC",
    "KERNELGUARD", "OPENBLAS",
)  # fmt: skip


def detect(evidence: Evidence, policy: Policy) -> Iterator[Finding]:
    """Compare each side's later states with the one before its import, and the sides with each other."""
    del policy
    ours, theirs = (evidence.states.get(side, ()) for side in (Side.CANDIDATE, Side.REFERENCE))
    if ours:
        yield from _flags(ours, theirs)
        yield from _environment(ours, theirs)
        yield from _functions(ours, theirs)
        yield from _threads(ours, theirs)
    yield from _children(evidence)


def _changed(states: tuple[WorkerState, ...], part: str) -> dict[str, str]:
    """Names in a part of the state that differ from the first look, with the moment at which that was first seen."""
    found: dict[str, str] = {}
    if not states:
        return found
    first: Mapping[str, str] = getattr(states[0], part)
    for state in states[1:]:
        later: Mapping[str, str] = getattr(state, part)
        for name in first.keys() | later.keys():
            if first.get(name) != later.get(name):
                found.setdefault(name, state.moment)
    return found


def _extra(ours: tuple[WorkerState, ...], theirs: tuple[WorkerState, ...], part: str) -> dict[str, str]:
    control = _changed(theirs, part)
    return {name: moment for name, moment in sorted(_changed(ours, part).items()) if name not in control}


def _flags(ours: tuple[WorkerState, ...], theirs: tuple[WorkerState, ...]) -> Iterator[Finding]:
    changed = _extra(ours, theirs, "flags")
    if changed:
        now = {name: ours[-1].flags.get(name, "") for name in changed}
        yield Finding(
            code="RH-01",
            detector="RH-FLAGS-CHANGED",
            severity=Severity.ERROR,
            summary=f"Backend settings were changed: {', '.join(f'{name}={value}' for name, value in now.items())}",
            evidence={"changed": changed, "now": now},
            policy_rule="backend_flags",
        )


def _environment(ours: tuple[WorkerState, ...], theirs: tuple[WorkerState, ...]) -> Iterator[Finding]:
    changed = {name: moment for name, moment in _extra(ours, theirs, "environment").items() if name not in BUILD_VARIABLES}
    bad = {name: moment for name, moment in changed.items() if name.startswith(SENSITIVE)}
    if changed:
        yield Finding(
            code="RH-01",
            detector="RH-ENVIRONMENT-CHANGED",
            severity=Severity.ERROR if bad else Severity.INFO,
            summary=f"Environment variables were changed: {', '.join(bad or changed)}"[:300],
            evidence={"changed": changed},
            policy_rule="environment",
        )


def _functions(ours: tuple[WorkerState, ...], theirs: tuple[WorkerState, ...]) -> Iterator[Finding]:
    known = ours[0].functions.keys()
    changed = {name: moment for name, moment in _extra(ours, theirs, "functions").items() if name in known}
    if changed:
        yield Finding(
            code="RH-07",
            detector="RH-FUNCTIONS-REPLACED",
            severity=Severity.ERROR,
            summary=f"Timing or checking functions were replaced: {', '.join(list(changed)[:6])}",
            evidence={"changed": dict(list(changed.items())[:40]), "count": len(changed)},
            policy_rule="api_identity",
        )


def _threads(ours: tuple[WorkerState, ...], theirs: tuple[WorkerState, ...]) -> Iterator[Finding]:
    allowed = max((len(state.python_threads) for state in theirs), default=0)
    for state in ours[1:]:
        if len(state.python_threads) > allowed:
            yield Finding(
                code="RH-10",
                detector="RH-PYTHON-THREAD",
                severity=Severity.ERROR,
                summary=f"{len(state.python_threads)} Python threads run beside the calls ({state.moment}): "
                + ", ".join(state.python_threads[:4]),
                evidence={"moment": state.moment, "threads": list(state.python_threads[:20])},
                policy_rule="no_background_work",
            )
            return


def _children(evidence: Evidence) -> Iterator[Finding]:
    states = evidence.processes.get(Side.CANDIDATE, ())
    allowed = max((len(state.children) for state in evidence.processes.get(Side.REFERENCE, ())), default=0)
    for state in states:
        if state.moment in ("mid plan", "end", "after construction") and len(state.children) > allowed:
            yield Finding(
                code="RH-10",
                detector="RH-CHILD-PROCESS",
                severity=Severity.ERROR,
                summary=f"{len(state.children)} processes of the candidate were alive ({state.moment}): "
                + ", ".join(state.children[:4]),
                evidence={"moment": state.moment, "children": list(state.children[:20])},
                policy_rule="no_background_work",
            )
            return
    survivors = sum(end.survivors for end in evidence.ends if end.side is Side.CANDIDATE)
    if survivors:
        yield Finding(
            code="RH-10",
            detector="RH-CHILD-SURVIVED",
            severity=Severity.ERROR,
            summary=f"{survivors} processes outlived the worker and had to be killed",
            evidence={"survivors": survivors},
            policy_rule="no_background_work",
        )
