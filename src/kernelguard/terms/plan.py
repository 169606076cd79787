"""The hidden question paper: which inputs are drawn, in which order, and which of them count for the time."""

import enum
import hashlib
import hmac
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from kernelguard.terms.policy import Policy

SOLO_CALLS = 8  # reference calls before the candidate's import, the control for RH-01
CANARIES = 3
ITEMS_PER_BLOCK = 16
LATE_GAP_S = 1.0  # the last block starts no sooner than this after the first
BURST_WIDTH = 32
BURSTS = 7  # the first ones make the worker's allocator grow; the rest resolve kernels that are too short one by one


class DrawKind(enum.Enum):
    """How the random numbers of a call's input are shaped."""

    PLAIN = "plain"  # the problem's own distribution
    CANARY = "canary"  # a plain draw (variant 0), the same again (1), then with single elements edited (2)
    SPARSE = "sparse"  # rows with 1 to 8 nonzeros at random places in otherwise plain draws
    SHAPE = "shape"  # other distributions inside the same range
    WIDE = "wide"  # scaled, shifted, signed: outside the problem's range
    BURST = "burst"  # several plain inputs at one GO


PROBE_KINDS = (DrawKind.SPARSE, DrawKind.SHAPE, DrawKind.WIDE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One execution of reference and candidate. Always judged, always timed; `scored` calls give the runtime.

    `input_seeds` has one seed for each input set handed over at GO (more than one in a burst).
    """

    index: int
    kind: DrawKind
    variant: int
    input_seeds: tuple[int, ...]
    device_seed: int
    candidate_first: bool
    scored: bool
    oracle: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Calls that run without a pause. `not_before_s` counts from the start of the first block."""

    calls: tuple[Call, ...]
    not_before_s: float = 0.0
    warmup: bool = False  # the first call of each worker: its own deadline, judged, not scored
    bursts: bool = False  # only worth their time for short kernels


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Everything secret about one evaluation, derived from `seed` alone so that it can be revealed and repeated."""

    seed: str
    weight_seed: int
    solo: Block
    blocks: tuple[Block, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls put to the candidate, in order."""
        return tuple(call for block in self.blocks for call in block.calls)


def dice(seed: str) -> Callable[[int], int]:
    """Numbers that nobody can guess without `seed`: HMAC-SHA-256 over a counter. Returns `randbelow(n)`, n at most 2**64."""
    key = bytes.fromhex(seed)
    counter = iter(range(1 << 62))

    def randbelow(bound: int) -> int:
        word = hmac.new(key, next(counter).to_bytes(8, "little"), hashlib.sha256).digest()
        return int.from_bytes(word, "little") % bound  # 256 bits over at most 64: the bias is below 2**-192

    return randbelow


def draw_plan(policy: Policy, seed: str) -> Plan:
    """Draw and shuffle the calls of one evaluation from `seed` (64 hex digits of the OS's randomness)."""
    randbelow = dice(seed)
    weight_seed = randbelow(1 << 63)
    index = iter(range(1 << 31))
    solo = Block(calls=tuple(call for _ in range(SOLO_CALLS) for call in _calls(DrawKind.PLAIN, index, randbelow)))
    first = tuple(replace(call, scored=False) for call in _calls(DrawKind.PLAIN, index, randbelow))
    paper = [_calls(kind, index, randbelow) for kind in _shuffled_kinds(policy, randbelow)]
    per_block = max(1, min(ITEMS_PER_BLOCK, len(paper) // 4))
    chunks = [paper[start : start + per_block] for start in range(0, len(paper), per_block)]
    blocks = [Block(calls=tuple(call for item in chunk for call in item)) for chunk in chunks]
    blocks[-1] = replace(blocks[-1], not_before_s=LATE_GAP_S if len(blocks) > 1 else 0.0)
    bursts = tuple(call for _ in range(BURSTS) for call in _calls(DrawKind.BURST, index, randbelow))
    last = Block(
        calls=bursts, bursts=True
    )  # at the end: their many outputs make the allocator spread, and later calls would be slower to read
    return Plan(seed=seed, weight_seed=weight_seed, solo=solo, blocks=(Block(calls=first, warmup=True), *blocks, last))


def _shuffled_kinds(policy: Policy, randbelow: Callable[[int], int]) -> list[DrawKind]:
    kinds = [DrawKind.PLAIN] * policy.num_perf_trials
    kinds += [PROBE_KINDS[number % len(PROBE_KINDS)] for number in range(policy.num_correct_trials)]
    kinds += [DrawKind.CANARY] * CANARIES
    for last in range(len(kinds) - 1, 0, -1):
        other = randbelow(last + 1)
        kinds[last], kinds[other] = kinds[other], kinds[last]
    return kinds


def _calls(kind: DrawKind, index: Iterator[int], randbelow: Callable[[int], int]) -> tuple[Call, ...]:
    """The call of one kind, or the three calls of a canary, which share their input seed."""
    width = BURST_WIDTH if kind is DrawKind.BURST else 1
    seeds = tuple(randbelow(1 << 63) for _ in range(width))
    variants = (0, 1, 2) if kind is DrawKind.CANARY else (randbelow(1 << 16) if kind in PROBE_KINDS else 0,)
    return tuple(
        Call(
            index=next(index),
            kind=kind,
            variant=variant,
            input_seeds=seeds,
            device_seed=randbelow(1 << 63),
            candidate_first=bool(randbelow(2)),
            scored=kind is DrawKind.PLAIN,
            oracle=kind in PROBE_KINDS,
        )
        for variant in variants
    )
