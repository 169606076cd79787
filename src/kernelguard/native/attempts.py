"""Calling code that may raise anything, and keeping what it raised."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

TEXT_LIMIT = 65_536  # characters; a compiler's log fits, an exception of a gigabyte does not

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """An exception as text: `name` is module and class, as upstream writes it."""

    name: str
    message: str
    trace: str


def attempt(action: Callable[[], T]) -> T | Failure:
    """What `action` returns, or the Failure it ended in. `sys.exit` is a failure too; an interrupt of ours passes through."""
    try:
        return action()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a candidate raises what it likes
        return failure_of(error)


def failure_of(error: BaseException) -> Failure:
    """Describe an exception without trusting its `__str__`."""
    report = traceback.TracebackException.from_exception(error)
    return Failure(name=error_name(error), message=clip(str(report)), trace=clip("".join(report.format())))


def error_name(error: BaseException) -> str:
    """Module and class, `builtins.RuntimeError` for example."""
    return f"{type(error).__module__}.{type(error).__name__}"


def clip(text: str, limit: int = TEXT_LIMIT) -> str:
    """At most `limit` characters that can be written as UTF-8; a longer text ends in `...`."""
    text = text if len(text) <= limit else text[: limit - 3] + "..."
    return text.encode("utf-8", "replace").decode("utf-8")
