"""Commands whose options are the fields of a dataclass, so that they can be passed on and tested as one value."""

import enum
import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import TypeVar, get_type_hints

import typer

from kernelguard.cli.engine import Engine

T = TypeVar("T")


def takes(options: Callable[..., T]) -> Callable[[Callable[[Engine, T], int]], Callable[..., int]]:
    """Turn a function of (engine, options) into a command.

    Typer reads a command's options from its signature; this gives it one with a keyword for each field of `options`.
    """
    hints = get_type_hints(options, include_extras=True)
    defaults = {field.name: _typed(field.default) for field in fields(options)}  # type: ignore[arg-type]  # always a dataclass
    keywords = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hint,
            default=inspect.Parameter.empty if defaults[name] is MISSING else defaults[name],
        )
        for name, hint in hints.items()
    ]
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)

    def decorate(command: Callable[[Engine, T], int]) -> Callable[..., int]:
        @functools.wraps(command)
        def spread(context: typer.Context, **given: object) -> int:
            engine = context.obj
            if not isinstance(engine, Engine):
                raise TypeError("the command line was started without an Engine")
            return command(engine, options(**given))

        spread.__annotations__ = {"context": typer.Context, **hints}
        spread.__signature__ = inspect.Signature([context, *keywords])  # type: ignore[attr-defined]  # what inspect looks for
        return spread

    return decorate


def _typed(default: object) -> object:
    """A default as it would be typed: older releases of typer take an Enum's value, and not its member."""
    return default.value if isinstance(default, enum.Enum) else default
