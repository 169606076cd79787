"""Nested Python values as bounded JSON text, with tensors replaced by their number in a list beside it."""

import json
import math
from collections.abc import Callable, Sequence

from kernelguard.terms.errors import WireError

MAX_TEXT_BYTES = 1 << 20
MAX_NODES = 20_000
MAX_DEPTH = 16


class _Budget:
    """How many parts and how much depth are left.

    A class and no closure: a recursive closure would be a reference cycle that keeps every tensor it saw alive until the
    garbage collector comes by.
    """

    def __init__(self) -> None:
        self._nodes = MAX_NODES

    def spend(self, depth: int) -> None:
        """Count one part. Raises WireError."""
        self._nodes -= 1
        if depth > MAX_DEPTH or self._nodes < 0:
            raise WireError("a value is nested too deeply or has too many parts")


def pack(value: object, take: Callable[[object], int | None]) -> str:
    """`value` as text. `take` returns the number of a tensor, or None for what is no tensor.

    Known: None, bool, int, float, str, list, tuple, dict with str keys. Anything else raises WireError naming the type.
    """
    try:
        text = json.dumps(_packed(value, take, _Budget(), 0))
    except ValueError as error:  # an integer of thousands of digits
        raise WireError(f"a value can't be written: {str(error)[:100]}") from error
    if len(text) > MAX_TEXT_BYTES:
        raise WireError("a value has too much text")
    return text


def _packed(item: object, take: Callable[[object], int | None], budget: _Budget, depth: int) -> object:
    budget.spend(depth)
    number = take(item)
    if number is not None:
        return {"t": number}
    if item is None or isinstance(item, (bool, int, str)):
        return item
    if isinstance(item, float):
        return item if math.isfinite(item) else {"f": str(item)}
    if isinstance(item, (list, tuple)):
        return {"l" if isinstance(item, list) else "u": [_packed(part, take, budget, depth + 1) for part in item]}
    if isinstance(item, dict) and all(isinstance(key, str) for key in item):
        return {"d": [[key, _packed(part, take, budget, depth + 1)] for key, part in item.items()]}
    raise WireError(f"a value of type {type(item).__name__} can't cross the gate")


def unpack(text: str, tensors: Sequence[object]) -> object:
    """The value that `pack` wrote, with `tensors` put back. Raises WireError for anything that `pack` can't have written."""
    if len(text) > MAX_TEXT_BYTES:
        raise WireError("a value has too much text")
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_single)
        return _unpacked(value, tensors, _Budget(), 0)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a packed value is not JSON: {str(error)[:100]}") from error


def _refuse(word: str) -> object:
    raise WireError(f"a packed value holds {word}, which is written otherwise")


def _single(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise WireError("a packed value repeats a key")
    return dict(pairs)


def _unpacked(item: object, tensors: Sequence[object], budget: _Budget, depth: int) -> object:
    budget.spend(depth)
    if isinstance(item, list):
        raise WireError("a bare list can't have been packed")
    if not isinstance(item, dict):
        if isinstance(item, float) and not math.isfinite(item):
            raise WireError("a packed value holds a number beyond every float, which is written otherwise")
        return item
    if len(item) != 1:
        raise WireError("a node has more than one kind")
    (kind, body), *_ = item.items()
    if kind == "t" and isinstance(body, int) and not isinstance(body, bool) and 0 <= body < len(tensors):
        return tensors[body]
    if kind == "f" and body in ("inf", "-inf", "nan"):
        return float(str(body))
    if kind in ("l", "u") and isinstance(body, list):
        parts = [_unpacked(part, tensors, budget, depth + 1) for part in body]
        return parts if kind == "l" else tuple(parts)
    if kind == "d" and isinstance(body, list):
        return _single([(_key(pair), _unpacked(pair[1], tensors, budget, depth + 1)) for pair in body])
    raise WireError(f"a node of unknown kind {str(kind)[:20]!r}")


def _key(pair: object) -> str:
    if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str):
        return pair[0]
    raise WireError("a dict entry is not a pair")
