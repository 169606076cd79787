"""The real evaluator behind the drill's signature, with one trusted host for each device instead of one for each case."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from kernelguard.evaluation.candidate import evaluate
from kernelguard.redteam.drill import Evaluate
from kernelguard.supervision.host import Host
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Verdict


@contextmanager
def judge() -> Iterator[Evaluate]:
    """An `evaluate` whose hosts are opened when they are first needed and closed at the end of the block."""
    with ExitStack() as stack:
        hosts: dict[tuple[str, int], Host] = {}

        def ask(problem: Problem, candidate: Candidate, policy: Policy) -> Verdict:
            place = (policy.device, policy.gpu)
            if place not in hosts:
                hosts[place] = stack.enter_context(Host(device=policy.device, gpu=policy.gpu))
            return evaluate(problem, candidate, policy, hosts[place])

        yield ask
