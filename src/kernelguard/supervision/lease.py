"""One user of a device at a time, across processes: an advisory lock on a file named after the card, freed by the kernel."""

import fcntl
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernelguard.terms.errors import HostError

_POLL_S = 0.05


@contextmanager
def lease(device_id: str, *, timeout_s: float) -> Iterator[None]:
    """Hold the device. Raises HostError if others keep it for longer than `timeout_s` seconds, or there is no lock to take."""
    descriptor = _lock_file(re.sub(r"[^A-Za-z0-9-]", "_", device_id) + ".lock")
    try:
        _lock(descriptor, device_id, timeout_s)
        yield
    finally:
        os.close(descriptor)


def _lock_file(name: str) -> int:
    """Open the device's file, which any user of this host may lock: reading it is all that a lock needs."""
    folder = Path(tempfile.gettempdir()) / "kernelguard-leases"
    try:
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            folder.chmod(0o1777)  # the umask does not apply; nobody deletes another user's file
        return os.open(folder / name, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise HostError(f"can't open the lock {folder / name}: {error.strerror}") from error


def _lock(descriptor: int, device_id: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise HostError(f"{device_id} is in use by another evaluation (waited {timeout_s:g} s)") from None
            time.sleep(_POLL_S)
        else:
            return
