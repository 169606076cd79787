"""THE STORY: is this candidate right, and how fast is it really? Each line of `evaluate` is one file further down."""

from contextlib import nullcontext

from kernelguard.decision import decide
from kernelguard.detectors import detect
from kernelguard.evaluation.capabilities import capabilities_of
from kernelguard.evaluation.dossier import dossier
from kernelguard.evaluation.trial import sit
from kernelguard.preflight import inspect, refuses
from kernelguard.supervision.host import Host
from kernelguard.supervision.lease import lease
from kernelguard.terms.errors import UsageError
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Verdict

LEASE_S = 3600.0


def evaluate(problem: Problem, candidate: Candidate, policy: Policy, host: Host | None = None) -> Verdict:
    """Question one candidate under one policy; always returns a verdict, whatever the candidate does.

    Raises UsageError or ProblemError when the operator's own input can't be used, HostError when this host failed us.
    Without `host` the processes are started for this call alone.
    """
    if policy.weights == "transfer":
        raise UsageError("weights=transfer: the reference's weights can't be handed over yet; use weights=seeded")
    findings = inspect(candidate, policy)
    if refuses(findings, policy):
        return decide(findings, (), None, policy)

    with nullcontext(host) if host else Host(device=policy.device, gpu=policy.gpu) as opened:
        missing = opened.lacks()
        if missing:
            return decide((), missing, None, policy)
        with lease(opened.device_id, timeout_s=LEASE_S):
            sitting = sit(problem, candidate, policy, opened)

    findings += detect(sitting.evidence, policy)
    capabilities = capabilities_of(sitting, policy)
    return decide(findings, capabilities, sitting.evidence, policy, extended=dossier(problem, candidate, policy, sitting))
