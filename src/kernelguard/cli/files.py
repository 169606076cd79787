"""Sources in, records out."""

import contextlib
import os
from pathlib import Path

from kernelguard.terms.errors import UsageError

SOURCE_LIMIT_BYTES = 16 << 20
RECORD_LIMIT_BYTES = 256 << 20


def read_source(path: Path, what: str) -> str:
    """The text of a source file; `what` is it in an error (`reference`, `candidate`).

    Raises:
        UsageError: no such file, no regular file, more than 16 MiB, or no UTF-8.
    """
    return _read(path, what, SOURCE_LIMIT_BYTES)


def read_record_text(path: Path) -> str:
    """The text of a record file, at most 256 MiB. Raises UsageError as `read_source`."""
    return _read(path, "record", RECORD_LIMIT_BYTES)


def write_atomically(path: Path, text: str) -> None:
    """Put `text` at `path` whole or not at all: written beside it, synced, then renamed.

    Raises:
        UsageError: the folder can't be made or written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as problem:
        with contextlib.suppress(OSError):  # it may never have been made; the complaint below is what matters
            beside.unlink()
        raise UsageError(f"{path}: can't be written: {problem.strerror}") from None


def _read(path: Path, what: str, limit: int) -> str:
    if not path.is_file():
        raise UsageError(f"{what} {path}: {'is not a file' if path.exists() else 'no such file'}")
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as problem:
        raise UsageError(f"{what} {path}: can't be read: {problem.strerror}") from None
    if len(content) > limit:
        raise UsageError(f"{what} {path}: larger than {limit >> 20} MiB")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise UsageError(f"{what} {path}: not UTF-8 text (byte {problem.start})") from None
