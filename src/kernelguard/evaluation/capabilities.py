"""What this sitting could and could not observe, as Capabilities."""

from kernelguard.evaluation.sitting import Sitting
from kernelguard.terms.evidence import CallEvidence
from kernelguard.terms.findings import Capability, CapabilityStatus
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy

S, P, U = CapabilityStatus.SUPPORTED, CapabilityStatus.PARTIAL, CapabilityStatus.UNSUPPORTED
MIN_JUDGED_SHARE = 0.5


def capabilities_of(sitting: Sitting, policy: Policy) -> tuple[Capability, ...]:
    """All of them, required ones first."""
    return (
        _device(policy),
        _isolation(sitting, policy),
        _judged(sitting),
        _clock(sitting),
        _oracle(sitting),
        _inputs(sitting),
        _capability("kernel_trace", U, "no device trace is taken; work on hidden streams is judged by the two clocks alone"),
        _capability(
            "precision_ladder", P, "fp32 is told from TF32, bf16 and fp16 on sparse rows; other promises are judged by tolerance"
        ),
    )


def _capability(name: str, status: CapabilityStatus, detail: str, *, required: bool = False) -> Capability:
    return Capability(name=name, status=status, required=required, detail=detail)


def _device(policy: Policy) -> Capability:
    if policy.device == "cuda":
        return _capability("cuda_runtime", S, "outputs read in place by CUDA IPC", required=True)
    return _capability(
        "host_runtime", S, "device=cpu was chosen: host clocks, outputs read in place by process_vm_readv", required=True
    )


def _isolation(sitting: Sitting, policy: Policy) -> Capability:
    enough = sitting.isolation.rank >= policy.min_isolation.rank
    detail = f"level {sitting.isolation.value}; reached: {', '.join(sitting.reached) or 'nothing'}"
    if sitting.missing:
        detail += f"; refused by this host: {', '.join(sitting.missing)}"
    return _capability("isolation", S if enough else P, detail, required=True)


def _judged(sitting: Sitting) -> Capability:
    """A reference that gives NaN, raises, or contradicts itself in fp64 is no measure."""
    plain = [call for call in sitting.evidence.calls if call.kind is DrawKind.PLAIN and _asked(call)]
    void = [call for call in plain if call.void]
    if plain and len(void) > (1 - MIN_JUDGED_SHARE) * len(plain):
        return _capability(
            "reference_output", U, f"{len(void)} of {len(plain)} plain calls are void: {void[0].void}", required=True
        )
    probes = [call for call in sitting.evidence.calls if call.kind in (DrawKind.SPARSE, DrawKind.SHAPE, DrawKind.WIDE)]
    lost = sum(bool(call.void) for call in probes)
    detail = f"{len(plain) - len(void)} plain calls judged, {lost} of {len(probes)} probes void"
    return _capability("reference_output", S, detail, required=True)


def _asked(call: CallEvidence) -> bool:
    return call.candidate is not None


def _clock(sitting: Sitting) -> Capability:
    calls = [call for call in sitting.evidence.calls if call.scored and call.candidate]
    clean = [
        call
        for call in calls
        if call.candidate and call.reference and not (call.candidate.new_segment or call.reference.new_segment)
    ]
    if calls and len(clean) < max(2, len(calls) // 4):
        return _capability(
            "witness_clock", P, f"only {len(clean)} of {len(calls)} calls could be timed from outside", required=True
        )
    return _capability("witness_clock", S, f"{len(clean)} of {len(calls)} scored calls timed from outside", required=True)


def _oracle(sitting: Sitting) -> Capability:
    notes = [note for note in sitting.evidence.notes if note.startswith("no fp64 oracle")]
    return _capability("fp64_oracle", P if notes else S, notes[0] if notes else "probes count only where fp32 and fp64 agree")


def _inputs(sitting: Sitting) -> Capability:
    notes = [note for note in sitting.evidence.notes if note.startswith("host draws")]
    return _capability("device_inputs", P if notes else S, notes[0] if notes else "inputs are made on the device")
