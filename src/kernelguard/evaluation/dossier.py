"""`Verdict.extended`: what this project has to say beyond the seed's schema, as JSON values; times in ms unless named."""

import platform
import statistics
from collections.abc import Mapping, Sequence

from kernelguard import __version__
from kernelguard.detectors.gate_time import measure_gap, timed_calls, timing_bound
from kernelguard.evaluation.sitting import Sitting
from kernelguard.terms.evidence import CallEvidence, Compared, Evidence, ProcessState, Refused, Side, WorkerState
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.samples import paired_ratio, quantile
from kernelguard.terms.tolerance import NATIVE_TOLERANCE

LOG_TAIL = 4000
CONVERGED = 0.01  # half-width of the 95 % interval


def dossier(problem: Problem, candidate: Candidate, policy: Policy, sitting: Sitting) -> dict[str, object]:
    """Everything measured in one sitting, so that a stranger can see why and repeat it."""
    evidence = sitting.evidence
    return {
        "problem": {"name": problem.name, "digest": problem.digest, "level": problem.level, "problem_id": problem.problem_id},
        "candidate": {"name": candidate.name, "digest": candidate.digest, "backend": candidate.backend},
        "host": {**sitting.versions, "kernelguard": __version__, "platform": platform.platform()},
        "card": [dict(reading) for reading in sitting.clocks],
        "isolation": {"level": sitting.isolation.value, "detail": ", ".join(sitting.reached)},
        "plan": _plan(sitting),
        "clocks": _clocks(evidence),
        "speedup": _speedup(evidence),
        "correctness": _correctness(evidence, policy),
        "calibration": {side.value: list(seen.gaps_ms) for side, seen in evidence.calibration.items()},
        "calls": [_call(call) for call in evidence.calls],
        "solo": [_call(call) for call in evidence.solo.calls] if evidence.solo else [],
        "state": {side.value: [_state(state) for state in states] for side, states in evidence.states.items()},
        "processes": {side.value: [_process(state) for state in states] for side, states in evidence.processes.items()},
        "notes": list(evidence.notes),
        "stages_s": dict(evidence.stages_s),
        "log": _log(evidence),
        "error": evidence.load_failure.text if evidence.load_failure else _raised(evidence),
    }


def _plan(sitting: Sitting) -> dict[str, object]:
    if sitting.plan is None:
        return {}
    kinds: dict[str, int] = {}
    for call in sitting.plan.calls:
        kinds[call.kind.value] = kinds.get(call.kind.value, 0) + 1
    return {"seed": sitting.plan.seed, "weight_seed": sitting.plan.weight_seed, "calls": len(sitting.plan.calls), "kinds": kinds}


def _clocks(evidence: Evidence) -> dict[str, object]:
    pairs = timed_calls(evidence)
    gap = measure_gap(pairs, cpu_clock=evidence.cpu_clock)
    if gap is None:
        return {}
    candidates = [candidate for _, candidate in pairs]
    found: dict[str, object] = {
        name: _spread([getattr(half, name) for half in candidates])
        for name in ("claimed_event_ms", "claimed_host_ms", "witness_ms")
    }
    calibration = evidence.calibration.get(Side.CANDIDATE)
    return found | {
        "overhead_us": statistics.median(calibration.gaps_ms) * 1000 if calibration else None,
        "gap_us": gap.median_ms * 1000,
        "gap_se_us": gap.error_ms * 1000,
        "slack_us": gap.allowed_ms * 1000,
        "timing_bound_ms": timing_bound(evidence),
        "bursts": [
            {"width": call.width, "candidate_ms": call.candidate.claimed_event_ms / call.width,
             "reference_ms": call.reference.claimed_event_ms / call.width}
            for call in evidence.calls if call.kind is DrawKind.BURST and call.candidate and call.reference
        ],
    }  # fmt: skip


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "p10": quantile(values, 0.1), "p90": quantile(values, 0.9)}


def _speedup(evidence: Evidence) -> dict[str, object]:
    """Median of paired ratios, reference over candidate, by claimed event time in the same call."""
    pairs = [
        (call.reference.claimed_event_ms, call.candidate.claimed_event_ms)
        for call in evidence.calls
        if call.scored and call.reference and call.candidate and isinstance(call.outcome, Compared)
    ]
    ratio = paired_ratio([reference for reference, _ in pairs], [candidate for _, candidate in pairs])
    if ratio is None:
        return {}
    median, low, high = ratio
    budget = any(note.startswith("budget:") for note in evidence.notes)
    status = "budget" if budget else "converged" if (high - low) / 2 <= CONVERGED * median else "noise-limited"
    return {"median": median, "low": low, "high": high, "pairs": len(pairs), "status": status}


def _correctness(evidence: Evidence, policy: Policy) -> dict[str, object]:
    judged = [(call, call.outcome) for call in evidence.calls if not call.void and isinstance(call.outcome, Compared)]
    inside = [(call, seen) for call, seen in judged if call.kind is not DrawKind.WIDE]
    if not inside:
        return {}
    tolerance = NATIVE_TOLERANCE[policy.precision]
    margins = [seen.worst_margin for _, seen in inside]
    rows = [seen.worst_row for _, seen in inside]
    errors = [seen.relative_error for _, seen in inside]
    bad = next(((call, seen) for call, seen in inside if not (seen.native_ok and seen.rows_ok)), None)
    found: dict[str, object] = {
        "worst_relative": None if None in margins else max(margin for margin in margins if margin is not None) * tolerance,
        "tolerance": tolerance,
        "frobenius": None if None in errors else max(error for error in errors if error is not None),
        "worst_row": None if None in rows else max(row for row in rows if row is not None),
        "judged": len(inside),
        "void": sum(bool(call.void) for call in evidence.calls),
    }
    if bad is not None:
        call, seen = bad
        found["first_mismatch"] = {
            "call": call.index, "kind": call.kind.value, "output": seen.first_output, "index": list(seen.first_index),
            "expected": seen.first_expected, "actual": seen.first_actual,
        }  # fmt: skip
    return found


def _call(call: CallEvidence) -> dict[str, object]:
    return {
        "index": call.index,
        "kind": call.kind.value,
        "variant": call.variant,
        "scored": call.scored,
        "width": call.width,
        "order": "candidate first" if call.candidate_first else "reference first",
        "void": call.void,
        **{side: _half(getattr(call, side)) for side in ("reference", "candidate")},
        "outcome": _outcome(call.outcome),
    }


def _half(half: object) -> dict[str, object] | None:
    names = ("claimed_event_ms", "claimed_host_ms", "witness_ms", "done_ms", "chain_ms", "new_segment")
    return None if half is None else {name: getattr(half, name) for name in names}


def _outcome(outcome: Refused | Compared | None) -> dict[str, object] | None:
    match outcome:
        case None:
            return None
        case Refused():
            return {"fault": outcome.fault.value, "detail": outcome.detail[:300]}
        case Compared():
            return {"native_ok": outcome.native_ok, "rows_ok": outcome.rows_ok, "worst_margin": outcome.worst_margin,
                    "worst_row": outcome.worst_row, "relative_error": outcome.relative_error}  # fmt: skip


def _state(state: WorkerState) -> dict[str, object]:
    return {"moment": state.moment, "flags": dict(state.flags), "python_threads": list(state.python_threads)}


def _process(state: ProcessState) -> Mapping[str, object]:
    return {"moment": state.moment, "pid": state.pid, "threads": dict(state.threads), "children": list(state.children)}


def _log(evidence: Evidence) -> str:
    return "".join(end.log for end in evidence.ends if end.side is Side.CANDIDATE)[-LOG_TAIL:]


def _raised(evidence: Evidence) -> str:
    refused = [call.outcome for call in evidence.calls if isinstance(call.outcome, Refused)]
    return refused[0].detail if refused else ""
