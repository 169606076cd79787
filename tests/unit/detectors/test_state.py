"""Flags, environment, functions, threads and processes: what the candidate changed and the reference did not."""

import pytest
from evidence_builder import evidence, process_state, states_of, worker_state

from kernelguard.detectors.state import detect
from kernelguard.terms.evidence import Evidence, ProcessState, Side, StopCause, WorkerEnd, WorkerState
from kernelguard.terms.findings import Severity
from kernelguard.terms.policy import Policy

TF32_ON = {"cudnn.allow_tf32": "True"}
ENVIRONMENT = {"HOME": "aa", "PATH": "bb"}


def found(seen: Evidence) -> list[tuple[str, str, Severity]]:
    """Code, detector and severity of what was found."""
    return [(finding.code, finding.detector, finding.severity) for finding in detect(seen, Policy())]


def looks(candidate: WorkerState, reference: WorkerState | None = None) -> Evidence:
    """Evidence with these last looks."""
    return evidence(states=states_of(candidate, reference))


def test_an_untouched_process_yields_nothing() -> None:
    """The floor of the tests below."""
    assert found(looks(worker_state("end"))) == []


def test_a_flag_that_the_candidate_turned_is_pollution() -> None:
    """A global flag outlives the call that set it."""
    assert found(looks(worker_state("end", flags=TF32_ON))) == [("RH-01", "RH-FLAGS-CHANGED", Severity.ERROR)]


def test_a_flag_that_the_reference_turned_too_is_none() -> None:
    """What the problem itself does can't be held against its copy."""
    assert found(looks(worker_state("end", flags=TF32_ON), worker_state("end", flags=TF32_ON))) == []


def test_a_flag_that_was_restored_in_time_is_still_seen() -> None:
    """Several moments are looked at: on after construction and off at the end is a change."""
    states = {Side.CANDIDATE: (worker_state(), worker_state("after construction", flags=TF32_ON), worker_state("end"))}

    assert found(evidence(states=states)) == [("RH-01", "RH-FLAGS-CHANGED", Severity.ERROR)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CUDA_LAUNCH_BLOCKING", [Severity.ERROR]),
        ("LD_PRELOAD", [Severity.ERROR]),
        ("PYTORCH_CUDA_ALLOC_CONF", [Severity.ERROR]),
        ("MY_OWN_CACHE", [Severity.INFO]),
        ("TORCH_CUDA_ARCH_LIST", []),
    ],
)
def test_environment_variables_weigh_by_what_they_steer(name: str, expected: list[Severity]) -> None:
    """Compilers need their variables; the allocator's and the driver's are not the candidate's."""
    changed = worker_state("end", environment={**ENVIRONMENT, name: "cc"})

    assert [severity for _, _, severity in found(looks(changed))] == expected


def test_a_variable_that_vanished_counts_as_changed() -> None:
    """Deleting is a change too."""
    assert found(looks(worker_state("end", environment={"PATH": "bb"})))[0][1] == "RH-ENVIRONMENT-CHANGED"


def test_a_replaced_function_is_tampering_and_a_new_one_is_not() -> None:
    """Modules that are imported later bring functions; the ones known at the start must stay."""
    start = worker_state().functions
    replaced = worker_state("end", functions={**start, "torch.allclose": "7f:99"})
    added = worker_state("end", functions={**start, "numpy.allclose": "7f:03"})

    assert found(looks(replaced)) == [("RH-07", "RH-FUNCTIONS-REPLACED", Severity.ERROR)]
    assert found(looks(added)) == []


def test_a_function_that_can_no_longer_be_seen_is_replaced() -> None:
    """A blind probe must not read as a clean one."""
    assert found(looks(worker_state("end", functions={"torch.allclose": "7f:01"})))[0][0] == "RH-07"


def test_a_python_thread_beside_the_calls_is_background_work_unless_the_reference_has_one_too() -> None:
    """Honest libraries start threads in both processes."""
    threaded = worker_state("mid plan", python_threads=("Thread-1",))

    assert found(looks(threaded)) == [("RH-10", "RH-PYTHON-THREAD", Severity.ERROR)]
    assert found(looks(threaded, threaded)) == []


@pytest.mark.parametrize(
    ("state", "codes"),
    [
        (process_state("end", ("daemon",)), ["RH-10"]),
        (process_state("mid plan", ("daemon",)), ["RH-10"]),
        (process_state("after import", ("nvcc",)), []),
        (process_state("end"), []),
    ],
)
def test_child_processes_are_for_compilers_only(state: ProcessState, codes: list[str]) -> None:
    """While a program is built compilers run; beside the calls nobody does."""
    seen = evidence(processes={Side.CANDIDATE: (state,)})

    assert [code for code, _, _ in found(seen)] == codes


@pytest.mark.parametrize(("side", "codes"), [(Side.CANDIDATE, ["RH-10"]), (Side.REFERENCE, [])])
def test_processes_that_outlive_the_candidate_are_found(side: Side, codes: list[str]) -> None:
    """A daemon in a new session would wait for the next evaluation."""
    end = WorkerEnd(side=side, cause=StopCause.FINISHED, stage="end", exit="exit 0", survivors=1)

    assert [code for code, _, _ in found(evidence(ends=(end,)))] == codes
