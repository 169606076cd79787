"""Untrusted text made safe to print, figures made short, and typed looks into a Verdict's `extended` mapping."""

import math
import unicodedata
from collections.abc import Mapping

TAIL_LINES = 20
LINE_CHARACTERS = 200
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})  # control, format (bidi, zero width), surrogate, private, unassigned


def safe_line(text: str, limit: int = LINE_CHARACTERS) -> str:
    """One line of untrusted text that can't steer a terminal: hidden characters become escapes, the end is cut at `limit`."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(_visible(character) for character in cut)


def safe_tail(text: str, lines: int = TAIL_LINES) -> list[str]:
    """The last `lines` lines of untrusted text, each safe to print."""
    return [safe_line(line.rstrip("\r").replace("\t", "    ")) for line in text.rstrip().split("\n")[-lines:]]


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN:
        return character
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def short(value: float, unit: str = "") -> str:
    """A figure with four significant digits: `2,695 ms`, `0.1295 ms`, `3.2e-05`."""
    digits = f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"
    return f"{digits} {unit}" if unit else digits


def section(values: Mapping[str, object], *path: str) -> Mapping[str, object]:
    """The mapping at `path`; empty where there is none."""
    for name in path:
        inner = values.get(name)
        if not isinstance(inner, Mapping):
            return {}
        values = inner
    return values


def figure(values: Mapping[str, object], name: str) -> float | None:
    """The finite number called `name`; None where there is none."""
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def word(values: Mapping[str, object], name: str) -> str:
    """What is called `name`, as one safe line; empty where there is nothing."""
    value = values.get(name)
    return "" if value is None else safe_line(str(value))
