"""Which files a confined worker may read: the system's libraries, Python and its packages; no problem, result or source tree.

What gets past: whatever an operator installed into site-packages can be read, so answers do not belong there.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

_SYSTEM = (
    "/usr", "/lib", "/lib64", "/bin", "/etc", "/opt", "/sys", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
    "/proc/sys", "/proc/driver", "/proc/devices", "/proc/filesystems", "/run/nvidia-persistenced",
)  # fmt: skip
_OWN = ("__init__.py", "terms", "wire", "gate", "worker", "confinement")  # what runs in a worker, and nothing that judges
_OUR_PACKAGES = ("kernelbench", "kernelguard")
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")


def readable_places(own_package: Path, import_path: Sequence[str]) -> tuple[str, ...]:
    """Paths to read under. `own_package` is where `kernelguard` lies, `import_path` the interpreter's `sys.path`."""
    places = [*_SYSTEM, *_interpreter(sys.prefix), *_interpreter(sys.base_prefix), *(str(own_package / name) for name in _OWN)]
    for entry in import_path:
        if entry and Path(entry).is_dir():
            places += [str(child) for child in Path(entry).absolute().iterdir() if _is_installed(child)]
    return tuple(places)


def _is_installed(child: Path) -> bool:
    """Anything in a folder of packages; elsewhere only regular packages.

    A folder on the path may be where the operator works: with the reference, the runs and the problems beside each other.
    """
    if child.name in _OUR_PACKAGES:
        return False
    return child.parent.name in _PACKAGE_FOLDERS or (child / "__init__.py").is_file()


def _interpreter(prefix: str) -> list[str]:
    """An interpreter's own files without its site-packages, whose children are listed one by one."""
    root = Path(prefix)
    places = [root / "bin", root / "include", root / "share", root / "pyvenv.cfg"]
    for library in (path for path in (root / "lib", root / "lib64") if path.is_dir() and not path.is_symlink()):
        for child in library.iterdir():
            inner = list(child.iterdir()) if child.is_dir() and child.name.startswith("python") else [child]
            places += [path for path in inner if path.name not in _PACKAGE_FOLDERS]
    return [str(place) for place in places]
