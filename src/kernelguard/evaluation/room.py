"""One sitting under way: deadlines, counts, and what is brought home at the end."""

import contextlib
import os
import shutil
import statistics
import time

from kernelguard.evaluation.sitting import Sitting
from kernelguard.evaluation.workers import Workers
from kernelguard.supervision.host import Host, isolation_of
from kernelguard.supervision.session import SessionOver
from kernelguard.terms.evidence import (
    BlockEvidence,
    Evidence,
    Side,
    StopCause,
)
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem

SHORT_MS = 0.06


class Room(Workers):
    """Deadlines, counts and results. Closing it ends every process and deletes every file of the sitting."""

    def __init__(self, problem: Problem, candidate: Candidate, policy: Policy, host: Host) -> None:
        super().__init__(problem, candidate, policy, host)
        self.solo: BlockEvidence | None = None
        self.blocks: list[BlockEvidence] = []

    def load_timeout_s(self) -> float:
        """Import and construction share the candidate's time, unless they still have to compile."""
        return self.policy.limits.timeout_s if self.built or not self._compiles() else self.policy.limits.build_timeout_s

    def candidate_left_s(self) -> float:
        """Seconds until the candidate's time is over. Raises SessionOver when there are none."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise SessionOver(
                Side.CANDIDATE, StopCause.TIMEOUT, f"the calls were not done within {self.policy.limits.timeout_s:g} s"
            )
        return left

    def spent(self, started: float) -> bool:
        """True when the plan's budget is used up."""
        return time.monotonic() - started > self.policy.budget_s

    def scored(self) -> int:
        """Scored calls so far."""
        return sum(call.scored for block in self.blocks for call in block.calls)

    def is_short(self) -> bool:
        """True when single calls are too short for the witness clock to resolve them well."""
        claims = [
            call.candidate.claimed_event_ms for block in self.blocks for call in block.calls if call.scored and call.candidate
        ]
        return bool(claims) and statistics.median(claims) < SHORT_MS

    def sitting(self) -> Sitting:
        """Everything seen, after every process has ended."""
        for side in list(self._sessions):
            self.end(side, StopCause.FINISHED)
        evidence = Evidence(
            calibration=dict(self._calibration),
            solo=self.solo,
            blocks=tuple(self.blocks),
            planned_calls=len(self.plan.calls),
            states={side: tuple(states) for side, states in self._states.items()},
            processes={side: tuple(states) for side, states in self._processes.items()},
            ends=tuple(self._ends),
            load_failure=self.load_failure,
            cpu_clock=self.policy.device == "cpu",
            stages_s=dict(self.stages_s),
            notes=tuple(self.notes),
        )
        opened = self.opened
        driver = {"driver": self.host.card.driver} if self.host.card else {}
        return Sitting(
            evidence=evidence,
            plan=self.plan if opened else None,
            versions={**self.host.versions, **(opened.versions if opened else {}), **driver},
            isolation=isolation_of(self._reached),
            reached=tuple(sorted(self._reached)),
            missing=tuple(sorted(self._missing)),
            clocks=tuple(self._clocks),
        )

    def close(self) -> None:
        """End what still lives and delete the files."""
        try:
            for side in list(self._sessions):
                self.end(side, StopCause.FINISHED)
        finally:
            for descriptor in self.slot_fds:
                with contextlib.suppress(OSError):  # closed twice at worst
                    os.close(descriptor)
            for space in self._spaces.values():
                space.remove()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _compiles(self) -> bool:
        return "cpp_extension" in self.candidate.source or "load_inline" in self.candidate.source
