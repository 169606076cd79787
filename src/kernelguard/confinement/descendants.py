"""Whole process trees, read from /proc: who descends from whom, and how to end all of them."""

import os
import signal
import time
from pathlib import Path

_MAX_PROCESSES = 100_000


def parent_of(pid: int) -> int:
    """The parent's process id, 0 for a process that is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in ("Z", "X") else int(fields[1])


def descendants(root: int) -> set[int]:
    """Living processes that descend from `root`, without it."""
    found: set[int] = set()
    border = children_of(root)
    while border and len(found) < _MAX_PROCESSES:
        found |= border
        border = {child for pid in border for child in children_of(pid)} - found
    return {pid for pid in found if parent_of(pid)}


def children_of(pid: int) -> set[int]:
    """Children that any thread of a process started; empty if it is gone."""
    found: set[int] = set()
    try:
        tasks = [entry.name for entry in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return found
    for task in tasks:
        try:
            listing = Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii")
            found.update(int(word) for word in listing.split())
        except OSError:
            continue  # the thread ended between the listing and the look
    return found


def name_of(pid: int) -> str:
    """The kernel's name for a process, empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return ""


def threads_of(pid: int) -> dict[str, int]:
    """Number of tasks of a process by name; empty if it is gone."""
    counts: dict[str, int] = {}
    try:
        tasks = [entry.name for entry in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return counts
    for task in tasks:
        try:
            name = Path(f"/proc/{pid}/task/{task}/comm").read_text(errors="replace").strip()
        except OSError:
            continue  # the thread ended between the listing and the look
        counts[name] = counts.get(name, 0) + 1
    return counts


def end_all(root: int, *, timeout_s: float) -> int:
    """Kill everything that descends from `root` until nothing does. Returns how many had to be killed.

    Orphans come back under `root` only if it is a subreaper. Stops at the deadline: the caller then knows by looking again.
    """
    deadline = time.monotonic() + timeout_s
    killed: set[int] = set()
    while time.monotonic() < deadline:
        living = descendants(root)
        if not living:
            break
        for order in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that a fork bomb does not outrun the sweep
            for pid in living:
                signal_quietly(pid, order)
        killed |= living
        if root == os.getpid():  # anywhere else the exit codes belong to whoever started those processes
            reap()
        time.sleep(0.002)
    return len(killed)


def signal_quietly(pid: int, number: int) -> bool:
    """Send a signal; False if the process is gone or out of reach."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def reap() -> None:
    """Collect every child of this process that has ended."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
