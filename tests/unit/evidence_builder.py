"""Hand-made Evidence: an honest evaluation by default, so that a test names only what it changes."""

from collections.abc import Iterable
from dataclasses import replace

from kernelguard.terms.evidence import BlockEvidence, CallEvidence, Compared, Evidence, ProcessState, Side, SideCall, WorkerState
from kernelguard.terms.plan import DrawKind

CLAIM_MS = 1.0
OVERHEAD_MS = 0.2  # what the hand-over adds to a claim, on both sides alike

RIGHT = Compared(native_ok=True, rows_ok=True, worst_margin=0.01, worst_row=0.001, relative_error=1e-6, elements=64)
WRONG = replace(RIGHT, native_ok=False, rows_ok=False, worst_margin=30.0, worst_row=9.0, bad_elements=7)


def side_call(
    claim_ms: float = CLAIM_MS, *, overhead_ms: float = OVERHEAD_MS, chain_ms: float = 0.18, **changes: object
) -> SideCall:
    """One side's half of a call whose witness time is its claim plus the overhead."""
    half = SideCall(
        witness_ms=claim_ms + overhead_ms,
        done_ms=claim_ms + overhead_ms / 2,
        chain_ms=chain_ms,
        claimed_event_ms=claim_ms,
        claimed_host_ms=claim_ms + 0.01,
    )
    return replace(half, **changes)  # type: ignore[arg-type]  # the names are those of the fields


def call(index: int = 0, kind: DrawKind = DrawKind.PLAIN, **changes: object) -> CallEvidence:
    """One honest call; plain draws are scored, as in a drawn plan."""
    seen = CallEvidence(
        index=index,
        kind=kind,
        variant=0,
        scored=kind is DrawKind.PLAIN,
        width=1,
        candidate_first=bool(index % 2),
        reference=side_call(),
        candidate=side_call(),
        outcome=RIGHT,
    )
    return replace(seen, **changes)  # type: ignore[arg-type]  # the names are those of the fields


def plain_calls(count: int = 20, **changes: object) -> tuple[CallEvidence, ...]:
    """`count` plain calls that all have the same changes."""
    return tuple(call(index, **changes) for index in range(count))


def evidence(calls: Iterable[CallEvidence] = (), **changes: object) -> Evidence:
    """A complete evaluation of these calls (20 honest plain ones if none are given)."""
    made = tuple(calls) or plain_calls()
    solo = BlockEvidence(calls=tuple(call(number, candidate=None, outcome=None) for number in range(8)))
    whole = Evidence(solo=solo, blocks=(BlockEvidence(calls=made),), planned_calls=len(made))
    return replace(whole, **changes)  # type: ignore[arg-type]  # the names are those of the fields


def worker_state(moment: str = "before import", **changes: object) -> WorkerState:
    """What an untouched worker process looks like."""
    state = WorkerState(
        moment=moment,
        flags={"cudnn.allow_tf32": "False"},
        environment={"HOME": "aa", "PATH": "bb"},
        functions={"torch.allclose": "7f:01", "time.perf_counter": "7f:02"},
        python_threads=(),
    )
    return replace(state, **changes)  # type: ignore[arg-type]  # the names are those of the fields


def process_state(moment: str = "end", children: tuple[str, ...] = ()) -> ProcessState:
    """A worker seen from outside."""
    return ProcessState(moment=moment, pid=4242, threads={"python": 1}, children=children)


def states_of(candidate: WorkerState, reference: WorkerState | None = None) -> dict[Side, tuple[WorkerState, ...]]:
    """Both sides' looks: an untouched first one, then the one given."""
    return {
        Side.CANDIDATE: (worker_state(), candidate),
        Side.REFERENCE: (worker_state(), reference or worker_state("end")),
    }
