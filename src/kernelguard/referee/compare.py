"""Is the answer right? Every element, and every row on its own, in chunks that fit beside anything.

Native rule: |actual - expected| <= atol + rtol * |expected| at every element (torch.allclose, KernelBench's tolerance).
Row rule: no row's relative error, with a denominator of at least 1e-3 of the median row norm, is above the row tolerance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from kernelguard.terms.evidence import Compared
from kernelguard.terms.policy import Precision
from kernelguard.terms.tolerance import NATIVE_TOLERANCE, ROW_TOLERANCE

ROW_FLOOR = 1e-3
NEAR_ZERO_ROW = 1e-4
MIN_ROW = 16
TILE = 256
CHUNK = 1 << 25
POISON_MARGIN = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Tolerance:
    """What decides: `atol` = `rtol` of the native rule and the bound on a row's relative error."""

    native: float
    row: float

    @classmethod
    def of(cls, precision: Precision) -> "Tolerance":
        """The defaults of a precision."""
        return cls(native=NATIVE_TOLERANCE[precision], row=ROW_TOLERANCE[precision])


@dataclass(slots=True)
class _Worst:
    """Running worst over chunks of one output. NaN counts as infinitely wrong."""

    margin: float = 0.0
    bad: int = 0
    elements: int = 0
    difference_square: float = 0.0
    expected_square: float = 0.0
    row: float = 0.0


def compare(
    expected: Sequence[torch.Tensor],
    actual: Sequence[torch.Tensor],
    tolerance: Tolerance,
    earlier: Sequence[Sequence[torch.Tensor]],
) -> Compared:
    """Compare answers of one structure, dtypes and shapes. `earlier` holds the reference's answers to other inputs."""
    worsts = [_worst(e, a, tolerance) for e, a in zip(expected, actual, strict=True)]
    native_ok = all(worst.bad == 0 for worst in worsts)
    rows_ok = all(worst.row <= 1.0 for worst in worsts)
    margin = max((worst.margin for worst in worsts), default=0.0)
    row = max((worst.row for worst in worsts), default=0.0)
    square = sum(worst.difference_square for worst in worsts)
    norm = sum(worst.expected_square for worst in worsts)
    relative = math.sqrt(square / norm) if norm > 0 and math.isfinite(square) else (0.0 if square == 0 else math.inf)
    bad = next((number for number, worst in enumerate(worsts) if worst.bad), 0)
    index, want, got = ((), "", "") if native_ok else _first_bad(expected[bad], actual[bad], tolerance.native)
    return Compared(
        native_ok=native_ok,
        rows_ok=rows_ok,
        worst_margin=_finite(margin),
        worst_row=_finite(row),
        relative_error=_finite(relative),
        bad_elements=sum(worst.bad for worst in worsts),
        elements=sum(worst.elements for worst in worsts),
        first_output=bad,
        first_index=index,
        first_expected=want,
        first_actual=got,
        replays=not (native_ok and rows_ok) and any(_same(old, actual, tolerance) for old in earlier),
    )


def worst_relative_row(oracle: Sequence[torch.Tensor], actual: Sequence[torch.Tensor]) -> float | None:
    """Largest relative error of a row against fp64, over all floating outputs; None when it is not finite.

    A row that is nearly zero against the median row does not count: nothing is left there to be precise about.
    """
    worst = 0.0
    for want, got in zip(oracle, actual, strict=True):
        if not want.is_floating_point() or not want.numel():
            continue
        width = row_width(want.shape)
        rows = want.numel() // width * width
        expected = want.reshape(-1)[:rows].view(-1, width)
        norms = expected.norm(dim=1)
        errors = (got.reshape(-1)[:rows].view(-1, width).double() - expected).norm(dim=1)
        kept = norms > NEAR_ZERO_ROW * norms.median()
        if kept.any():
            worst = max(worst, float((errors / norms)[kept].max().item()))
    return worst if math.isfinite(worst) else None


def has_nan(tensors: Sequence[torch.Tensor]) -> bool:
    """True when any floating output holds NaN; such a call measures nothing."""
    return any(t.isnan().any().item() for t in tensors if t.is_floating_point() or t.is_complex())


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _same(expected: Sequence[torch.Tensor], actual: Sequence[torch.Tensor], tolerance: Tolerance) -> bool:
    if [(t.shape, t.dtype) for t in expected] != [(t.shape, t.dtype) for t in actual]:
        return False
    worsts = [_worst(e, a, tolerance) for e, a in zip(expected, actual, strict=True)]
    return all(worst.bad == 0 and worst.row <= 1.0 for worst in worsts)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_complex():
        return torch.view_as_real(tensor)
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.to(torch.float32)


def _worst(expected: torch.Tensor, actual: torch.Tensor, tolerance: Tolerance) -> _Worst:
    worst = _Worst(elements=expected.numel())
    if not expected.numel():
        return worst
    if not (expected.is_floating_point() or expected.is_complex()):
        worst.bad = int((expected != actual).sum().item())
        worst.margin = worst.row = math.inf if worst.bad else 0.0
        return worst
    width = row_width(expected.shape)
    flat_expected, flat_actual = expected.reshape(-1), actual.reshape(-1)
    rows: list[torch.Tensor] = []
    step = max(width, CHUNK // width * width)
    for start in range(0, expected.numel(), step):
        _add_chunk(
            worst, rows, _wide(flat_expected[start : start + step]), _wide(flat_actual[start : start + step]), width, tolerance
        )
    worst.row = _worst_row(rows, tolerance)
    return worst


def _add_chunk(
    worst: _Worst, rows: list[torch.Tensor], expected: torch.Tensor, actual: torch.Tensor, width: int, tolerance: Tolerance
) -> None:
    """Add one chunk's statistics; appends the row norms of difference and expectation."""
    difference = (actual - expected).abs_()
    same_infinity = expected.isinf() & (actual == expected)
    difference.masked_fill_(same_infinity, 0).nan_to_num_(nan=math.inf, posinf=math.inf)
    scale = expected.abs()
    margin = difference / (tolerance.native + tolerance.native * scale)
    margin.masked_fill_(same_infinity, 0).nan_to_num_(nan=math.inf, posinf=math.inf)
    scale.masked_fill_(scale.isinf(), 0)
    narrow = expected.dtype is torch.float32
    squares = [_row_squares(part, width, narrow=narrow) for part in (difference, scale)]
    summary = torch.stack([margin.max().double(), (margin > 1).sum().double(), squares[0].sum(), squares[1].sum()]).tolist()
    worst.margin = max(worst.margin, summary[0])
    worst.bad += int(summary[1])
    worst.difference_square += summary[2]
    worst.expected_square += summary[3]
    rows.append(torch.stack(squares))


def _row_squares(values: torch.Tensor, width: int, *, narrow: bool) -> torch.Tensor:
    """Sum of squares of each row of `width` elements, the last row maybe shorter; fp64, shape (rows,)."""
    flat = values.reshape(-1)
    if narrow and flat.numel() > width:
        flat = flat.clamp(max=1e18)  # squares stay finite in fp32; a larger difference is wrong by any measure
    whole = flat.numel() // width * width
    body = flat[:whole].view(-1, width).square().sum(dim=1).double()
    return body if whole == flat.numel() else torch.cat([body, flat[whole:].double().square().sum().view(1)])


def _worst_row(rows: list[torch.Tensor], tolerance: Tolerance) -> float:
    """Largest relative error of a row over the row tolerance."""
    difference, expected = (part.sqrt() for part in torch.cat(rows, dim=1))
    floor = ROW_FLOOR * expected.median()
    absolute = tolerance.native * ROW_FLOOR  # a row of zeros in an output of zeros has no relative error
    return float((difference / torch.maximum(expected, floor).clamp(min=absolute)).max().item()) / tolerance.row


def row_width(shape: Sequence[int]) -> int:
    """How many consecutive elements make a row: trailing dimensions until there are at least 16, a tile of 256 for vectors."""
    width = 1
    for extent in reversed(shape):
        width *= extent
        if width >= MIN_ROW:
            break
    total = math.prod(shape)
    return min(TILE, total) if width == total and total > TILE else max(1, width)


def _first_bad(expected: torch.Tensor, actual: torch.Tensor, tolerance: float) -> tuple[tuple[int, ...], str, str]:
    flat_expected, flat_actual = expected.reshape(-1), actual.reshape(-1)
    for start in range(0, expected.numel(), CHUNK):
        want, got = flat_expected[start : start + CHUNK], flat_actual[start : start + CHUNK]
        if expected.is_floating_point() or expected.is_complex():
            bad = ~torch.isclose(_wide(got.to(want.dtype)), _wide(want), rtol=tolerance, atol=tolerance)
            bad = bad.any(dim=-1) if want.is_complex() else bad
        else:
            bad = got != want
        if bad.any():
            place = int(bad.nonzero()[0, 0].item())
            index = torch.unravel_index(torch.tensor(start + place), expected.shape) if expected.dim() else ()
            return tuple(int(part) for part in index), f"{want[place].item()!r}", f"{got[place].item()!r}"
    return (), "", ""
