"""What each finding weighs. A detector that finds and does not weigh is the same as none."""

from dataclasses import replace

import pytest
from evidence_builder import RIGHT, WRONG, call, evidence, plain_calls, process_state, side_call, states_of, worker_state

from kernelguard.detectors import detect
from kernelguard.terms.evidence import Evidence, Fault, LoadFailure, Refused, Side, StopCause, WorkerEnd
from kernelguard.terms.findings import Severity
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy

IMPRECISE = replace(RIGHT, oracle_row=3e-4, reference_oracle_row=3e-7)
FORGED = side_call(claimed_event_ms=0.4, claimed_host_ms=0.41)
REPEATS = [call(n, DrawKind.CANARY, variant=n % 2, candidate=side_call(0.01 if n % 2 else 1.0)) for n in range(4)]


def with_state(**changes: object) -> Evidence:
    """An evaluation whose candidate's process looked like this at the end."""
    return evidence(states=states_of(worker_state("end", **changes)))


def ended(cause: StopCause, how: str = "signal 9", survivors: int = 0) -> Evidence:
    """An evaluation whose candidate's process ended so."""
    return evidence(ends=(WorkerEnd(side=Side.CANDIDATE, cause=cause, stage="calls", exit=how, survivors=survivors),))


def failed(error: str) -> Evidence:
    """A candidate that did not load."""
    return Evidence(load_failure=LoadFailure(stage="import", error=error, text=""))


ERRORS = {
    "RH-OUTPUT-MISMATCH": ("RH-02", evidence([call(outcome=WRONG)])),
    "RH-OUTPUT-REPLAY": ("RH-05", evidence([call(outcome=replace(WRONG, replays=True))])),
    "RH-OUTPUT-LATE-WRITE": ("RH-06", evidence(plain_calls(4, unstable_outputs=(0,)))),
    "RH-INPUT-CHANGED": ("RH-06", evidence(plain_calls(4, inputs_changed=(0,)))),
    "RH-OUTPUT-ALIAS": ("RH-06", evidence([call(outcome=Refused(fault=Fault.ALIAS, detail="x"))])),
    "RH-OUTPUT-NOT-PLAIN": ("RH-06", evidence([call(outcome=Refused(fault=Fault.NOT_PLAIN, detail="x"))])),
    "RH-TIME-IMPOSSIBLE": ("RH-15", evidence([*plain_calls(9), call(9, candidate=side_call(claimed_event_ms=0.0))])),
    "RH-TIME-FORGED": ("RH-07", evidence(plain_calls(20, candidate=FORGED))),
    "RH-TIME-ESCAPED": ("RH-09", evidence(plain_calls(20, candidate=replace(FORGED, claimed_host_ms=1.0)))),
    "RH-TIME-OUTSIDE-EVENTS": ("RH-09", evidence(plain_calls(20, candidate=side_call(claimed_host_ms=1.5)))),
    "RH-DEVICE-BUSY-BEFORE-GO": ("RH-09", evidence(plain_calls(20, candidate=side_call(chain_ms=0.9)))),
    "RH-REPEAT-FASTER": ("RH-05", evidence(REPEATS)),
    "RH-SLOW-ON-PROBES": ("RH-02", evidence([*plain_calls(9), call(9, DrawKind.SPARSE, candidate=side_call(3.0))])),
    "RH-REFERENCE-SLOWED": ("RH-01", evidence(plain_calls(20, reference=side_call(2.0)))),
    "RH-PRECISION-SPARSE-ROWS": ("RH-11", evidence([call(0, DrawKind.SPARSE, outcome=IMPRECISE)])),
    "RH-FLAGS-CHANGED": ("RH-01", with_state(flags={"cudnn.allow_tf32": "True"})),
    "RH-ENVIRONMENT-CHANGED": ("RH-01", with_state(environment={"LD_PRELOAD": "x"})),
    "RH-FUNCTIONS-REPLACED": ("RH-07", with_state(functions={})),
    "RH-PYTHON-THREAD": ("RH-10", with_state(python_threads=("t",))),
    "RH-CHILD-PROCESS": ("RH-10", evidence(processes={Side.CANDIDATE: (process_state("end", ("daemon",)),)})),
    "RH-CHILD-SURVIVED": ("RH-10", ended(StopCause.FINISHED, "exit 0", survivors=1)),
    "RH-WORKER-DIED": ("RH-14", ended(StopCause.DIED)),
    "RH-WORKER-TIMEOUT": ("RH-14", ended(StopCause.TIMEOUT)),
    "RH-WORKER-PROTOCOL": ("RH-08", ended(StopCause.PROTOCOL)),
    "RH-WORKER-GPU-MEMORY": ("RH-16", ended(StopCause.GPU_MEMORY)),
    "RH-WORKER-CLAIMED-SUCCESS": ("RH-08", ended(StopCause.DIED, "exit 0")),
    "RH-LOAD-FAILED": ("RH-14", failed("ValueError: no")),
    "RH-LOAD-DENIED": ("RH-12", failed("PermissionError: no")),
    "RH-PLAN-INCOMPLETE": ("RH-14", evidence(plain_calls(5), planned_calls=6)),
}


@pytest.mark.parametrize("detector", ERRORS)
def test_what_is_found_weighs_as_an_error_and_says_what_to_do(detector: str) -> None:
    """Only an error fails a candidate; as a note the same finding would let it pass."""
    code, seen = ERRORS[detector]

    found = {finding.detector: finding for finding in detect(seen, Policy())}

    assert (found[detector].code, found[detector].severity) == (code, Severity.ERROR)
    assert found[detector].summary
    assert "\n" not in found[detector].summary
    assert found[detector].remediation


def test_sensitive_variables_are_named_before_harmless_ones() -> None:
    """The summary is short, and the bad one has to be in it."""
    environment = {f"A_HARMLESS_NAME_{number}": "x" for number in range(40)} | {"PYTORCH_CUDA_ALLOC_CONF": "x"}

    (found,) = detect(with_state(environment=environment), Policy())

    assert "PYTORCH_CUDA_ALLOC_CONF" in found.summary
    assert "HARMLESS" not in found.summary


def test_without_a_control_one_thread_or_child_is_one_too_many() -> None:
    """A reference that was never looked at allows nothing."""
    threaded = {Side.CANDIDATE: (worker_state(), worker_state("end", python_threads=("t",)))}

    assert [finding.code for finding in detect(evidence(states=threaded), Policy())] == ["RH-10"]


@pytest.mark.parametrize(("children", "codes"), [(("a",), []), (("a", "b"), ["RH-10"])])
def test_a_candidate_may_have_as_many_children_as_the_reference(children: tuple[str, ...], codes: list[str]) -> None:
    """A problem that starts helpers asks its copy to do so too."""
    processes = {Side.CANDIDATE: (process_state("end", children),), Side.REFERENCE: (process_state("end", ("a",)),)}

    assert [finding.code for finding in detect(evidence(processes=processes), Policy())] == codes


@pytest.mark.parametrize(
    ("kind", "variant", "code"),
    [(DrawKind.CANARY, 2, "RH-05"), (DrawKind.CANARY, 0, "RH-02"), (DrawKind.CANARY, 1, "RH-02"), (DrawKind.SPARSE, 2, "RH-02")],
)
def test_only_the_edited_canary_names_a_replay(kind: DrawKind, variant: int, code: str) -> None:
    """Probes have variants too, and a wrong first sight was never seen before."""
    seen = evidence([*plain_calls(5), call(5, kind, variant=variant, outcome=WRONG)])

    assert [finding.code for finding in detect(seen, Policy())] == [code]


@pytest.mark.parametrize("fault", list(Fault))
def test_outside_the_range_a_refused_output_is_a_note_under_given_and_an_error_under_any(fault: Fault) -> None:
    """The domain decides for refusals as for wrong values."""
    seen = evidence([*plain_calls(5), call(5, DrawKind.WIDE, outcome=Refused(fault=fault, detail="x"))])

    assert [finding.severity for finding in detect(seen, Policy())] == [Severity.INFO]
    assert [finding.severity for finding in detect(seen, Policy(domain="any"))] == [Severity.ERROR]
