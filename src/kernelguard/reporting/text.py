"""A Verdict for people: what was decided, what was found, how it was timed, how right it was, what could not be seen.

Every word that a candidate had a hand in is escaped and bounded, so that it can't steer the terminal; evidence, its log and its
compiler's output also stand behind a bar, so that they can't pass for the evaluator's own lines.
"""

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kernelguard.reporting.figures import clocks, correctness, speedup, surroundings
from kernelguard.reporting.plain import safe_line, safe_tail, short
from kernelguard.reporting.quoted import Quoted
from kernelguard.terms.codes import CODES
from kernelguard.terms.findings import Capability, CapabilityStatus, Finding, Severity
from kernelguard.terms.policy import Policy
from kernelguard.terms.verdict import Integrity, Native, Verdict

INTEGRITY_STYLES = {
    Integrity.PASS: "bold green",
    Integrity.SUSPICIOUS: "bold yellow",
    Integrity.FAIL: "bold red",
    Integrity.UNSUPPORTED: "bold magenta",
}
SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "dim"}
CAPABILITY_STYLES = {
    CapabilityStatus.SUPPORTED: "green",
    CapabilityStatus.PARTIAL: "yellow",
    CapabilityStatus.UNSUPPORTED: "red",
}
EVIDENCE_ITEMS = 8


def render(verdict: Verdict, policy: Policy) -> Group:
    """The whole verdict, section by section; sections with nothing in them are left out."""
    extended = verdict.extended
    parts: list[RenderableType] = [_head(verdict, policy)]
    parts += titled("Found", [line for finding in verdict.findings for line in _finding(finding)])
    parts += titled("Clocks (ms)", clocks(verdict))
    parts += titled("Speedup", speedup(extended))
    parts += titled("Correctness", correctness(verdict))
    missing = [one for one in verdict.capabilities if one.status is not CapabilityStatus.SUPPORTED]
    parts += titled("What this host could not observe", [capability_table(missing)] if missing else [])
    parts += titled("Limits of this verdict", [_bullet(limitation) for limitation in verdict.limitations])
    parts += titled("Build or load error", _quoted(extended.get("error")))
    parts += titled("What the candidate printed (untrusted, last lines)", _quoted(extended.get("log")))
    parts += titled("Where", surroundings(extended))
    return Group(*parts)


def render_native(native: Native) -> Group:
    """The native KernelBench result: no finding, no trust."""
    head = Text("NATIVE", style="bold")
    head.append("  KernelBench's own evaluation; nothing here is verified (mode off)", style="default")
    rows = Table.grid(padding=(0, 2))
    rows.add_row("compiled", _yes(native.compiled))
    rows.add_row("correct", _yes(native.correctness))
    rows.add_row("runtime", _native_ms(native.runtime_ms))
    rows.add_row("reference", _native_ms(native.ref_runtime_ms))
    said = [f"{safe_line(str(name))}: {safe_line(str(value), 2000)}" for name, value in native.metadata.items()]
    return Group(head, _indented(rows), *titled("Metadata", [Quoted(said)] if said else []))


def capability_table(capabilities: Iterable[Capability]) -> Table:
    """Capabilities, one a row: status, name, whether the policy insists on it, detail."""
    table = Table.grid(padding=(0, 2))
    for one in capabilities:
        need = "required" if one.required else "optional"
        status = Text(one.status.value, style=CAPABILITY_STYLES[one.status])
        table.add_row(status, Text(safe_line(one.name)), need, Text(safe_line(one.detail, 400)))
    return table


def titled(title: str, lines: Iterable[RenderableType]) -> list[RenderableType]:
    """A section: a blank line, its title, its lines two columns in. Nothing at all when there are no lines."""
    body = [_indented(line) for line in lines]
    return [Text(), Text(title, style="bold"), *body] if body else []


def _head(verdict: Verdict, policy: Policy) -> Text:
    head = Text(verdict.integrity.value, style=INTEGRITY_STYLES[verdict.integrity])
    head.append(f"  {_sentence(verdict)}", style="default")
    head.append(f"\n  {policy.mode.value}, {policy.rules.value}, {policy.device}, {policy.precision.value}", style="dim")
    return head


def _sentence(verdict: Verdict) -> str:
    codes = ", ".join(verdict.codes)
    match verdict.integrity:
        case Integrity.PASS:
            return f"verified: right, in {short(verdict.verified_runtime_ms or 0.0, 'ms')}"
        case Integrity.SUSPICIOUS:
            return f"not verified: it may be honest, but {codes or 'a warning'} stands against it"
        case Integrity.FAIL:
            return f"rejected: {codes or 'a required observation is missing'}"
        case Integrity.UNSUPPORTED:
            denied = ", ".join(one.name for one in verdict.capabilities if one.denies_trust)
            return f"could not be evaluated here: {denied or codes or 'see below'}"


def _finding(finding: Finding) -> list[RenderableType]:
    style = SEVERITY_STYLES[finding.severity]
    title = Text(f"{finding.code} {CODES[finding.code].name}", style=f"bold {style}")
    title.append(f"  {finding.severity.value}, by {safe_line(finding.detector)}", style="dim")
    lines: list[RenderableType] = [title, _indented(Text(safe_line(finding.summary, 600)))]
    if finding.evidence:
        lines.append(_indented(_evidence(finding.evidence)))
    if finding.severity is not Severity.INFO:
        lines.append(_indented(Text(f"What to do: {safe_line(finding.remediation, 600)}", style="dim")))
    return lines


def _evidence(evidence: Mapping[str, object]) -> Quoted:
    lines = [f"{safe_line(str(name))}: {safe_line(str(value))}" for name, value in list(evidence.items())[:EVIDENCE_ITEMS]]
    more = len(evidence) - EVIDENCE_ITEMS
    return Quoted([*lines, f"({more} more in the record)"] if more > 0 else lines)


def _quoted(text: object) -> list[RenderableType]:
    if isinstance(text, Mapping):
        return [part for side, words in text.items() for part in ([Text(safe_line(str(side))), *_quoted(words)] if words else [])]
    return [Quoted(safe_tail(text))] if isinstance(text, str) and text.strip() else []


def _indented(line: RenderableType) -> Padding:
    return Padding(line, (0, 0, 0, 2), expand=False)


def _bullet(sentence: str) -> Text:
    return Text(f"- {safe_line(sentence, 600)}")


def _yes(value: bool) -> str:  # noqa: FBT001 - a word for a truth value takes a truth value
    return "yes" if value else "no"


def _native_ms(runtime_ms: float) -> str:
    return short(runtime_ms, "ms") if runtime_ms > 0 else "not measured"
