"""Run the tables over one candidate: facts in, findings out. Nothing of the candidate is executed.

What gets past: names reached by getattr with built strings, exec, aliases inside containers, pasted tokens. The behavioural
detectors hold without this scan; it only refuses early what is plain to see.
"""

import re
from collections.abc import Iterator

from kernelguard.preflight.extensions import Extension
from kernelguard.preflight.native_table import NATIVE_RULES
from kernelguard.preflight.native_text import has_launch, has_loop
from kernelguard.preflight.rule import Rule
from kernelguard.preflight.source import Facts, Place, Unreadable, read_source
from kernelguard.preflight.table import RULES
from kernelguard.preflight.uses import Use
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Mode, Policy, Rules
from kernelguard.terms.problem import Candidate

_HOST_BACKENDS = frozenset({"c", "cpp"})
_EXTENSION_BACKENDS = frozenset({"cuda", "hip", "thunderkittens", *_HOST_BACKENDS})
_SHOWN_CODE = re.compile(r"\b(?:void|float|double|int|long)\b[^;{}]*\([^;{}]*\)\s*\{[^}]*;", re.DOTALL)
_FAMILIES = {"triton": "triton", "cute": "cute", "cutlass": "cute", "tilelang": "tilelang"}
MAX_PER_RULE = 3


def inspect(candidate: Candidate, policy: Policy) -> tuple[Finding, ...]:
    """What the source itself gives away; () under `behaviour`, where no source is read. Never raises for any text."""
    if not policy.reads_source:
        return ()
    facts = read_source(candidate.source, backend=candidate.backend, entry=candidate.entry)
    if isinstance(facts, Unreadable):
        code = "RH-13" if facts.opaque else "RH-14"
        place = Place(line=facts.line, column=1, snippet="")
        return (_finding("parse", code, Severity.ERROR, f"The source can't be read: {facts.reason}", place, "source"),)
    strict = policy.rules is Rules.SOURCE_STRICT
    return (*_entry(facts), *_uses(facts, strict=strict), *_native(facts, strict=strict), *(_kernels(facts) if strict else ()))


def refuses(findings: tuple[Finding, ...], policy: Policy) -> bool:
    """True when these findings of preflight end the evaluation before the import."""
    return policy.mode is Mode.ENFORCE and any(finding.severity is Severity.ERROR for finding in findings)


def _finding(rule: str, code: str, severity: Severity, summary: str, place: Place, construct: str) -> Finding:
    return Finding(
        code=code,
        detector=f"RH-PREFLIGHT-{rule.upper().replace('_', '-')}",
        severity=severity,
        summary=summary,
        evidence={"line": place.line, "column": place.column, "snippet": place.snippet, "construct": construct},
        policy_rule=rule,
    )


def _entry(facts: Facts) -> Iterator[Finding]:
    if not facts.entries:
        place = Place(line=1, column=1, snippet="")
        yield _finding("entry", "RH-14", Severity.ERROR, f"The source defines no class {facts.entry}", place, facts.entry)


def _uses(facts: Facts, *, strict: bool) -> Iterator[Finding]:
    for rule in RULES:
        severity = rule.strict if strict else rule.practical
        if severity is None:
            continue
        hits = [use for use in facts.uses if use.role in rule.roles and not use.device and rule.applies(use)]
        builds = [use for use in hits if _builds_own_object(facts, rule, use)]
        yield from (_of_use(facts, rule, Severity.INFO, use) for use in builds[:1])
        yield from (_of_use(facts, rule, severity, use) for use in [use for use in hits if use not in builds][:MAX_PER_RULE])


def _builds_own_object(facts: Facts, rule: Rule, use: Use) -> bool:
    """A plain shared object: C or CUDA text that the file shows, written and compiled at import, loaded from the path it built.

    It happens in a confined worker, before anything secret is known; calls in forward are no building.
    """
    if use.live or facts.backend not in _EXTENSION_BACKENDS or not _shows_code(facts):
        return False
    if rule.name == "foreign_library":
        return _own_library(use)
    return rule.name == "files" or (rule.name == "process" and use.name.startswith("subprocess."))


def _shows_code(facts: Facts) -> bool:
    """True when some string of the file holds a function with a body in C, C++ or CUDA."""
    return any(_SHOWN_CODE.search(text.value) for text in facts.texts)


def _own_library(use: Use) -> bool:
    """A path that was put together, or a name that is no library of the system."""
    return not (use.given.text or "").startswith("lib")


def _of_use(facts: Facts, rule: Rule, severity: Severity, use: Use) -> Finding:
    place = facts.place(use.node)
    return _finding(
        rule.name,
        rule.code,
        severity,
        f"Line {place.line} {use.role.value} {use.name[:80]}, which {rule.words}",
        place,
        use.name[:80],
    )


def _native(facts: Facts, *, strict: bool) -> Iterator[Finding]:
    for extension in facts.extensions:
        for rule in NATIVE_RULES:
            match = rule.pattern.search(extension.native.code if rule.code != "RH-03" else extension.reached)
            if match:
                severity = rule.strict if strict else rule.practical
                place = _native_place(facts, extension, match.group(0))
                yield _finding(
                    rule.name, rule.code, severity, f"Native code {rule.words}: {match.group(0)[:60]}", place, match.group(0)[:60]
                )


def _native_place(facts: Facts, extension: Extension, text: str) -> Place:
    position = extension.native.code.find(text)
    if position < 0 or not extension.parts:
        return facts.place(extension.node)
    part, below = extension.part_at(position)
    return facts.place(part.node, below)


def _kernels(facts: Facts) -> Iterator[Finding]:
    """A kernel of the declared backend must be there, and on forward's path."""
    declared, launched = _in_python(facts) if facts.backend in _FAMILIES else _in_extensions(facts)
    place = facts.place_of_line(1)
    if not declared and facts.backend in (*_FAMILIES, *_EXTENSION_BACKENDS):
        yield _finding(
            "custom_kernel",
            "RH-04",
            Severity.ERROR,
            f"There is no kernel of the declared backend {facts.backend}",
            place,
            facts.backend,
        )
    elif declared and not launched:
        names = ", ".join(sorted(declared))[:80]
        yield _finding(
            "kernel_launched", "RH-04", Severity.ERROR, f"No declared kernel is on forward's path: {names}", place, names
        )


def _in_python(facts: Facts) -> tuple[set[str], set[str]]:
    kernels = [kernel for kernel in facts.kernels if kernel.family == _FAMILIES[facts.backend]]
    return {kernel.name for kernel in kernels}, {kernel.name for kernel in kernels if kernel.launched and kernel.writes}


def _in_extensions(facts: Facts) -> tuple[set[str], set[str]]:
    declared, launched = set[str](), set[str]()
    if any(use.name == "ctypes.CDLL" and _own_library(use) for use in facts.uses) and _shows_code(facts):
        return {"a shared object"}, {"a shared object"}
    for extension in facts.extensions:
        names = extension.native.kernels or (
            {"a C++ function"} if facts.backend in _HOST_BACKENDS and has_loop(extension.native.code) else set()
        )
        declared |= set(names)
        runs = (
            has_loop(extension.reached)
            if facts.backend in _HOST_BACKENDS
            else has_launch(extension.reached) or extension.called_directly
        )
        launched |= set(names) if runs else set()
    return declared, launched
