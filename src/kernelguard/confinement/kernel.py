"""The few Linux calls that the standard library lacks, by ctypes. Each raises OSError with the kernel's reason."""

import ctypes
import os
import struct
from collections.abc import Sequence
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_TIMERSLACK, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 29, 36, 38
PR_SET_PTRACER, ANY_PROCESS = 0x59616D61, (1 << 64) - 1
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x08000000, 0x20000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 18

_SYS_LANDLOCK_CREATE, _SYS_LANDLOCK_ADD_RULE, _SYS_LANDLOCK_RESTRICT = 444, 445, 446
_FS_EXECUTE, _FS_WRITE, _FS_READ_FILE, _FS_READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_FS_TRUNCATE, _FS_IOCTL = 1 << 14, 1 << 15
_FS_READ = _FS_EXECUTE | _FS_READ_FILE | _FS_READ_DIR
_FS_ON_FILES = _FS_EXECUTE | _FS_WRITE | _FS_READ_FILE | _FS_TRUNCATE | _FS_IOCTL
_FS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_SCOPES_ABI = 6  # abstract sockets and signals


def _check(result: int, name: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int) -> None:
    """Set one option of this process by prctl. Raises OSError."""
    _check(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl({option})")


def unshare(flags: int) -> None:
    """Leave namespaces for new ones. A new PID namespace begins with the next child."""
    _check(_libc.unshare(flags), "unshare")


def mount_own_proc() -> None:
    """Give this process, the first of a new PID namespace, a mount namespace and a /proc that shows that namespace alone.

    CUDA names its threads through /proc and does not start where the numbers there are not its own.
    """
    unshare(CLONE_NEWNS)
    _check(_libc.mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None), "mount private")
    _check(_libc.mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(_MS_NOSUID | _MS_NODEV | _MS_NOEXEC), None), "mount proc")


def landlock_abi() -> int:
    """The Landlock version of this kernel, 0 where there is none."""
    return max(0, int(_libc.syscall(_SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)))


def landlock(*, readable: Sequence[str], writable: Sequence[str]) -> None:
    """Restrict this process and its children for good: read under `readable`, anything under `writable`, nothing elsewhere.

    Where the kernel can (ABI 6), signals and abstract sockets reach only processes that are confined alike.
    Paths that do not exist are left out. Needs no_new_privs or CAP_SYS_ADMIN.
    """
    abi = landlock_abi()
    if abi < 1:
        raise OSError("this kernel has no Landlock")
    handled = _FS_BY_ABI[min(abi, max(_FS_BY_ABI))]
    attributes = struct.pack("QQQ", handled, 0, 3 if abi >= _SCOPES_ABI else 0)
    size = 24 if abi >= _SCOPES_ABI else 16 if abi >= 4 else 8
    ruleset = _check(_libc.syscall(_SYS_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0), "landlock_create_ruleset")
    try:
        for path in readable:
            _allow(ruleset, path, _FS_READ & handled)
        for path in writable:
            _allow(ruleset, path, handled)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        _check(_libc.syscall(_SYS_LANDLOCK_RESTRICT, ruleset, 0), "landlock_restrict_self")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not there, so there is nothing to allow
    try:
        rights = access if Path(path).is_dir() else access & _FS_ON_FILES
        rule = struct.pack("<Qi", rights, place)
        _check(_libc.syscall(_SYS_LANDLOCK_ADD_RULE, ruleset, 1, rule, 0), f"landlock_add_rule {path}")
    finally:
        os.close(place)
