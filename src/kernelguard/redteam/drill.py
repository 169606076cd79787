"""Run the corpus through an evaluator and compare what was decided with what each case expects.

The evaluator is handed in, so that the drill itself is tested in milliseconds and can question any judge with this signature.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rich.table import Table

from kernelguard.redteam.corpus import Case
from kernelguard.redteam.host import available_needs
from kernelguard.terms.errors import KernelGuardError
from kernelguard.terms.policy import GIB, Limits, Mode, Policy, Rules
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Verdict

Evaluate = Callable[[Problem, Candidate, Policy], Verdict]

DEFAULT_TIMEOUT_S = 2.0
STRICTEST_FIRST = (Rules.SOURCE_STRICT, Rules.PRACTICAL, Rules.BEHAVIOUR)
CUDA_TIMEOUT_S = 180.0  # a worker on the card imports, compiles and tunes before its first answer
CUDA_CALL_TIMEOUT_S = 10.0
CUDA_MEMORY_BYTES = 16 * GIB
PERF_TRIALS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One case under one set of rules. `complaint` is empty exactly when the decision was the expected one."""

    case: Case
    rules: Rules
    status: str
    codes: tuple[str, ...]
    complaint: str
    seconds: float
    detectors: Mapping[str, str] = field(default_factory=dict)  # detector -> what it said

    @property
    def agreed(self) -> bool:
        """Whether status and codes are as the case expects."""
        return not self.complaint


@dataclass(frozen=True, kw_only=True, slots=True)
class Skipped:
    """A case that this host can't run, and what it lacks."""

    case: Case
    lacks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DrillReport:
    """What a drill found."""

    outcomes: tuple[Outcome, ...]
    skipped: tuple[Skipped, ...]
    seconds: float

    @property
    def agreed(self) -> bool:
        """True when something ran and every decision was the expected one."""
        return bool(self.outcomes) and all(outcome.agreed for outcome in self.outcomes)


def drill(
    cases: Iterable[Case],
    evaluate: Evaluate,
    *,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    rules: Iterable[Rules] = (),
    available: frozenset[str] | None = None,
    watch: Callable[[Outcome], None] = lambda _: None,
) -> DrillReport:
    """Put every case to `evaluate`, once for each of its policies that is among `rules`; `watch` hears of each outcome.

    Without `rules` each case is put once, under the policy where its expectation is hardest to meet. `timeout_s` is the time of
    one worker on the CPU. `available` names what the host has; None looks.
    """
    started = time.monotonic()
    wanted = frozenset(rules)
    has = available_needs() if available is None else available
    outcomes: list[Outcome] = []
    skipped: list[Skipped] = []
    for case in cases:
        if lacks := tuple(need for need in case.needs if need not in has):
            skipped.append(Skipped(case=case, lacks=lacks))
            continue
        for rule in [rule for rule in case.policy if rule in wanted] if wanted else [hardest(case)]:
            outcomes.append(_question(case, rule, evaluate, timeout_s))
            watch(outcomes[-1])
    return DrillReport(outcomes=tuple(outcomes), skipped=tuple(skipped), seconds=time.monotonic() - started)


def hardest(case: Case) -> Rules:
    """The strictest of its policies for a twin, which must pass; the most lenient for an attack, which must be caught."""
    return (min if case.honest else max)(case.policy, key=STRICTEST_FIRST.index)


def policy_for(case: Case, rules: Rules, timeout_s: float) -> Policy:
    """The terms under which a case is questioned: enforcing, few trials, tight limits."""
    on_card = case.device == "cuda"
    worker_s = max(timeout_s, CUDA_TIMEOUT_S) if on_card else timeout_s
    limits = Limits(
        timeout_s=worker_s,
        first_call_timeout_s=worker_s,
        call_timeout_s=CUDA_CALL_TIMEOUT_S if on_card else worker_s,
        host_memory_bytes=(64 if on_card else 8) * GIB,
        gpu_memory_bytes=CUDA_MEMORY_BYTES if on_card else 0,
    )
    return Policy(mode=Mode.ENFORCE, rules=rules, device=case.device, num_perf_trials=PERF_TRIALS, budget_s=60.0, limits=limits)


def _question(case: Case, rules: Rules, evaluate: Evaluate, timeout_s: float) -> Outcome:
    started = time.monotonic()
    codes: tuple[str, ...] = ()
    detectors: dict[str, str] = {}
    try:
        verdict = evaluate(case.asked(), case.candidate(), policy_for(case, rules, timeout_s))
    except KernelGuardError as error:
        status, complaint = "ERROR", f"the evaluator failed: {error}"
    else:
        status, codes = verdict.integrity.value, verdict.codes
        complaint = _complaint(case, rules, verdict)
        detectors = {finding.detector: finding.summary for finding in verdict.findings}
    return Outcome(
        case=case,
        rules=rules,
        status=status,
        codes=codes,
        complaint=complaint,
        seconds=time.monotonic() - started,
        detectors=detectors,
    )


def _complaint(case: Case, rules: Rules, verdict: Verdict) -> str:
    wanted = case.codes_for(rules)
    if not case.expects(verdict.integrity):
        return f"expected {case.expect}, got {verdict.integrity.value}"
    if wanted and not set(wanted) & set(verdict.codes):
        return f"expected one of {', '.join(wanted)}, found {', '.join(verdict.codes) or 'nothing'}"
    return ""


def summarise(report: DrillReport) -> dict[str, object]:
    """Counts, and what went wrong: small enough to read at a glance."""
    outcomes = report.outcomes
    return {
        "agreed": report.agreed,
        "evaluations": len(outcomes),
        "attacks_rejected": sum(outcome.agreed and not outcome.case.honest for outcome in outcomes),
        "attacks": sum(not outcome.case.honest for outcome in outcomes),
        "honest_passed": sum(outcome.agreed and outcome.case.honest for outcome in outcomes),
        "honest": sum(outcome.case.honest for outcome in outcomes),
        "skipped": len(report.skipped),
        "seconds": round(report.seconds, 3),
        "disagreements": [_line(outcome) for outcome in outcomes if not outcome.agreed],
    }


def to_summary_json(report: DrillReport) -> str:
    """The summary alone, as JSON."""
    return json.dumps(summarise(report), indent=2, allow_nan=False)


def to_json(report: DrillReport) -> str:
    """Everything, as JSON: the summary, one entry an evaluation, and what was skipped and why."""
    return json.dumps(
        {
            "summary": summarise(report),
            "results": [_entry(outcome) for outcome in report.outcomes],
            "skipped": [{"case": item.case.name, "lacks": list(item.lacks)} for item in report.skipped],
        },
        indent=2,
        allow_nan=False,
    )


def to_table(report: DrillReport) -> Table:
    """One row an evaluation, disagreements in bold red with what was expected instead."""
    columns = ("case", "policy", "expected", "status", "codes", "s", "")
    table = Table(*columns, title="red team", title_justify="left")
    for outcome in report.outcomes:
        table.add_row(
            outcome.case.name,
            outcome.rules.value,
            outcome.case.expect,
            outcome.status,
            " ".join(outcome.codes),
            f"{outcome.seconds:.1f}",
            outcome.complaint or "as expected",
            style="" if outcome.agreed else "bold red",
        )
    for item in report.skipped:
        table.add_row(item.case.name, "", item.case.expect, "skipped", "", "", f"needs {', '.join(item.lacks)}", style="dim")
    return table


def _entry(outcome: Outcome) -> dict[str, object]:
    case = outcome.case
    return {
        "case": case.name,
        "policy": outcome.rules.value,
        "layer": case.layer.value,
        "ids": list(case.ids),
        "threat": case.threat,
        "expected": case.expect,
        "expected_codes": list(case.codes_for(outcome.rules)),
        "status": outcome.status,
        "codes": list(outcome.codes),
        "detectors": dict(outcome.detectors),
        "agreed": outcome.agreed,
        "complaint": outcome.complaint,
        "seconds": round(outcome.seconds, 3),
    }


def _line(outcome: Outcome) -> str:
    return f"{outcome.case.name} ({outcome.rules.value}): {outcome.complaint}"
