"""The table of rules, and the two questions that the evaluation asks: what does the source say, and is that a refusal?

Nothing of the candidate is executed. What gets past: names put together at run time, `exec` of what nobody shows, tokens pasted
by the preprocessor. The behavioural detectors hold without this scan; it refuses early what is plain to see.
"""

from collections.abc import Iterable

from kernelguard.preflight.clock_rules import CLOCK_RULES
from kernelguard.preflight.escape_rules import ESCAPE_RULES
from kernelguard.preflight.framework_rules import FRAMEWORK_RULES
from kernelguard.preflight.kernel_rules import KERNEL_RULES
from kernelguard.preflight.output_rules import OUTPUT_RULES
from kernelguard.preflight.payload_rules import PAYLOAD_RULES
from kernelguard.preflight.precision_rules import PRECISION_RULES
from kernelguard.preflight.rule import Rule, Sighting
from kernelguard.preflight.source import Place, Unreadable, read_source
from kernelguard.preflight.tampering_rules import TAMPERING_RULES
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Mode, Policy, Rules
from kernelguard.terms.problem import Candidate

MAX_FINDINGS = 200
NOT_PYTHON = Rule(
    name="parse",
    code="RH-14",
    says="does not parse",
    honest="everything that this Python parses",
    gets_past="nothing",
    check=lambda _facts, _policy: (),
)
TOO_MUCH = Rule(
    name="bounds",
    code="RH-13",
    says="can't be read within bounds",
    honest="any program below 2 MB, 50,000 nodes and 150 levels",
    gets_past="nothing",
    check=lambda _facts, _policy: (),
)
RULES: tuple[Rule, ...] = (
    NOT_PYTHON,
    TOO_MUCH,
    *KERNEL_RULES,
    *FRAMEWORK_RULES,
    *TAMPERING_RULES,
    *OUTPUT_RULES,
    *CLOCK_RULES,
    *ESCAPE_RULES,
    *PAYLOAD_RULES,
    *PRECISION_RULES,
)


def inspect(candidate: Candidate, policy: Policy) -> tuple[Finding, ...]:
    """What the source gives away, by rule and then by line; () under `behaviour`, where no source is read.

    Raises nothing, whatever the text is: what can't be read is a finding.
    """
    if not policy.reads_source:
        return ()
    try:
        facts = read_source(candidate.source, backend=candidate.backend, entry=candidate.entry)
    except RecursionError:  # the caller's own stack was nearly used up
        facts = Unreadable(reason="the source is nested too deeply", line=1, opaque=True)
    if isinstance(facts, Unreadable):
        rule = TOO_MUCH if facts.opaque else NOT_PYTHON
        place = Place(line=facts.line, column=1, snippet="")
        return (_finding(rule, Sighting(construct=f"The source ({facts.reason})", place=place), 1, policy),)
    findings = [finding for rule in RULES for finding in _findings(rule, rule.check(facts, policy), policy)]
    return tuple(findings[:MAX_FINDINGS])


def refuses(findings: Iterable[Finding], policy: Policy) -> bool:
    """Whether these findings end the evaluation before the candidate is imported: an error of preflight, in mode enforce."""
    enforced = policy.mode is Mode.ENFORCE and policy.reads_source
    return enforced and any(
        finding.severity is Severity.ERROR and finding.detector.startswith("RH-PREFLIGHT-") for finding in findings
    )


def _findings(rule: Rule, sightings: Iterable[Sighting], policy: Policy) -> list[Finding]:
    """One finding for each construct and severity, at its first place, with the number of places."""
    groups: dict[tuple[str, Severity | None], list[Sighting]] = {}
    for sighting in sightings:
        groups.setdefault((sighting.construct, sighting.severity), []).append(sighting)
    firsts = [(min(group, key=_position), len({_position(one) for one in group})) for group in groups.values()]
    return [_finding(rule, first, count, policy) for first, count in sorted(firsts, key=lambda pair: _position(pair[0]))]


def _position(sighting: Sighting) -> tuple[int, int]:
    return (sighting.place.line, sighting.place.column)


def _finding(rule: Rule, sighting: Sighting, count: int, policy: Policy) -> Finding:
    own = rule.strict if policy.rules is Rules.SOURCE_STRICT else rule.practical
    return Finding(
        code=rule.code,
        detector=rule.detector,
        severity=sighting.severity or own,
        summary=f"{sighting.construct} {rule.says}.",
        evidence={
            "line": sighting.place.line,
            "column": sighting.place.column,
            "snippet": sighting.place.snippet,
            "construct": sighting.construct,
            "places": count,
        },
        policy_rule=rule.name,
    )
