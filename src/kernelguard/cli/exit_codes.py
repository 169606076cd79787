"""What an exit code of this project says, and the door at which our own errors become one line and one of these codes."""

import enum
import io
import os
import sys
import traceback
from collections.abc import Callable
from types import TracebackType

from kernelguard.terms.errors import KernelGuardError, ProblemError, UsageError
from kernelguard.terms.policy import Mode
from kernelguard.terms.verdict import Integrity


class ExitCode(enum.IntEnum):
    """Never mixed: a script that reads 1 knows that a candidate was judged and refused."""

    VERIFIED = 0
    REJECTED = 1
    BAD_INPUT = 2
    NOT_EVALUABLE = 3


def code_for(mode: Mode, integrity: Integrity) -> ExitCode:
    """The exit code of one judged candidate: `audit` only records, so a record is its success."""
    if mode is not Mode.ENFORCE or integrity is Integrity.PASS:
        return ExitCode.VERIFIED
    return ExitCode.NOT_EVALUABLE if integrity is Integrity.UNSUPPORTED else ExitCode.REJECTED


def guarded(program: str, work: Callable[[], int]) -> int:
    """Do the work; one of our own errors becomes one line on stderr and exit code 2 (input) or 3 (host)."""
    try:
        code = work()
    except (UsageError, ProblemError) as problem:
        return complain(program, str(problem), ExitCode.BAD_INPUT)
    except KernelGuardError as failure:
        return complain(program, str(failure), ExitCode.NOT_EVALUABLE)
    except KeyboardInterrupt:
        return complain(program, "interrupted", 130)  # 128 + SIGINT, as shells have it
    sys.stdout.flush()  # here, where a reader that has gone away still ends in `_crashed`
    return code


def complain(program: str, message: str, code: int) -> int:
    """Say what is wrong in one line on stderr, and give the code back."""
    print(f"{program}: {' '.join(message.split())}", file=sys.stderr)
    return code


def prepare_process() -> None:
    """Before a program's first word: a crash of ours ends with 3, and any text can be printed in any locale."""
    sys.excepthook = _crashed
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _crashed(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Python's own exit code for a crash is 1, which here would read as a rejected candidate."""
    if issubclass(kind, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered has no reader
        sys.exit(141)  # 128 + SIGPIPE, as shells have it
    traceback.print_exception(kind, error, where)
    sys.exit(ExitCode.NOT_EVALUABLE)
