"""One sitting: build, draw the plan, start both workers, put every call to both, and bring home the evidence."""

import contextlib
import time
from typing import cast

from kernelguard.evaluation.room import Room
from kernelguard.evaluation.sitting import Sitting
from kernelguard.supervision.host import Host
from kernelguard.supervision.session import SessionOver
from kernelguard.terms.errors import HostError, ProblemError
from kernelguard.terms.evidence import BlockEvidence, Ended, Side, StopCause
from kernelguard.terms.plan import BURST_WIDTH, Block, draw_plan
from kernelguard.terms.policy import Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.wire.messages import (
    Built,
)
from kernelguard.wire.referee_messages import (
    BlockDone,
    OpenProblem,
    ProblemOpened,
    ProblemRefused,
    RunBlock,
)

OPEN_S = 300.0
SPARE_S = 30.0
HEAT_S = 0.5
MIN_SCORED = 10  # plain calls without which a plan is not complete, whatever the budget
_CAUSE = {Ended.DEAD: StopCause.DIED, Ended.TIMEOUT: StopCause.TIMEOUT, Ended.PROTOCOL: StopCause.PROTOCOL}


def sit(problem: Problem, candidate: Candidate, policy: Policy, host: Host) -> Sitting:
    """Evidence for one candidate. The plan is drawn after the build, when the candidate's bytes are committed.

    Raises ProblemError when the reference can't be used and HostError when this host failed.
    """
    with contextlib.closing(Room(problem, candidate, policy, host)) as room:
        host.warm()
        if build(room):
            room.plan = draw_plan(policy, policy.plan_seed or host.fresh_seed())
            try:
                conduct(room)
            except SessionOver as over:
                room.end(over.side, over.cause, over.detail)
                if over.side is Side.REFERENCE:
                    raise HostError(
                        f"the reference worker ended: {over.cause.value}: {over.detail}. {room.log_of(over.side)}"
                    ) from over
        return room.sitting()


def build(room: Room) -> bool:
    """Compile the candidate's extensions where no GPU is visible. False when they do not compile.

    Only a hint decides whether there is anything to build; what is not built here is built at the import.
    """
    if "cpp_extension" not in room.candidate.source and "load_inline" not in room.candidate.source:
        return True
    with room.stage("build"):
        try:
            reply = room.build()
        except SessionOver as over:
            room.end(over.side, over.cause, over.detail)
            return False
        finally:
            room.end(Side.CANDIDATE, StopCause.FINISHED)
    if isinstance(reply, Built):
        room.built = True
    elif "Error building extension" in reply.failure.text or "SyntaxError" in reply.failure.error:
        room.load_failure = reply.failure
        return False
    return True  # it may need the GPU for its import: tried again under the lease


def conduct(room: Room) -> None:
    """Everything between the plan and the last call."""
    with room.stage("problem"):
        open_problem(room)
    with room.stage("start"):
        room.start(Side.REFERENCE, heat_s=HEAT_S)
        room.start(Side.CANDIDATE, heat_s=0.0)
    with room.stage("load reference"):
        if not room.load(Side.REFERENCE, timeout_s=room.policy.limits.timeout_s):
            raise ProblemError(f"the reference does not load: {room.take_failure()}")
    with room.stage("solo"):
        room.solo = ask_block(room, room.plan.solo, solo=True)
    with room.stage("load candidate"):
        if not room.load(Side.CANDIDATE, timeout_s=room.load_timeout_s()):
            return
    with room.stage("calls"):
        ask_all(room)


def open_problem(room: Room) -> None:
    """Hand the reference's source to the referee and let it lend the slots."""
    policy = room.policy
    order = OpenProblem(
        source=room.problem.source,
        device=policy.device,
        gpu=0,
        precision=policy.precision.value,
        fp32_precision=policy.fp32_precision.value,
        weight_seed=room.plan.weight_seed,
        widths=BURST_WIDTH,
        threads=room.threads,
    )
    answer, room.slot_fds = room.host.ask_with_fds(order, ProblemOpened, ProblemRefused, timeout_s=OPEN_S)
    if isinstance(answer, ProblemRefused):
        raise ProblemError(answer.reason)
    room.opened = cast("ProblemOpened", answer)


def ask_all(room: Room) -> None:
    """Put every block to both sides, look at the processes in the middle and at the end."""
    blocks = room.plan.blocks
    started = time.monotonic()
    for number, block in enumerate(blocks):
        if room.spent(started) and room.scored() >= MIN_SCORED:
            room.notes.append(f"budget: {len(blocks) - number} of {len(blocks)} blocks were left out")
            break
        if block.bursts and not room.is_short():
            room.notes.append(f"bursts: left out, the kernel is long enough without them ({len(block.calls)} calls)")
            continue
        time.sleep(max(0.0, started + block.not_before_s - time.monotonic()))
        evidence = ask_block(room, block, solo=False)
        room.blocks.append(evidence)
        if evidence.ended is not Ended.COMPLETE:
            raise SessionOver(evidence.ended_side or Side.REFERENCE, _CAUSE[evidence.ended], evidence.detail)
        if number == len(blocks) // 2:
            room.look_inside("mid plan")
    room.look_inside("end")


def ask_block(room: Room, block: Block, *, solo: bool) -> BlockEvidence:
    """One block. When a watched limit ends a worker meanwhile, what the referee saw until then is kept."""
    limits = room.policy.limits
    call_s = limits.first_call_timeout_s if block.warmup or solo else limits.call_timeout_s
    call_s = min(call_s, limits.timeout_s if solo else room.candidate_left_s())
    order = RunBlock(block=block, solo=solo, call_timeout_s=call_s)
    timeout_s = 2 * call_s * len(block.calls) + SPARE_S
    try:
        reply = room.host.ask(order, BlockDone, timeout_s=timeout_s, watched=room.watched())
    except SessionOver as over:
        room.end(over.side, over.cause, over.detail)
        room.blocks.append(room.host.answer(BlockDone, timeout_s=timeout_s).evidence)
        raise
    room.notes.extend(note for note in reply.notes if note not in room.notes)
    return reply.evidence
