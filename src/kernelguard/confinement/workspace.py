"""A disposable directory for one worker: its program, HOME, TMPDIR and caches, and nothing that belongs to another."""

import contextlib
import itertools
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROGRAM = "program.py"
_CACHES = {
    "HOME": "home", "TMPDIR": "tmp", "TRITON_CACHE_DIR": "triton", "TORCH_EXTENSIONS_DIR": "extensions",
    "TORCHINDUCTOR_CACHE_DIR": "inductor", "XDG_CACHE_HOME": "cache", "CUDA_CACHE_PATH": "cuda", "TILELANG_CACHE_DIR": "tilelang",
    "CUTE_DSL_CACHE_DIR": "cute", "CUPY_CACHE_DIR": "cupy", "NUMBA_CACHE_DIR": "numba",
}  # fmt: skip
_PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "CXX", "CC", "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES", "THUNDERKITTENS_ROOT", "TRITON_PTXAS_PATH", "TRITON_LIBCUDA_PATH", "NCCL_NVLS_ENABLE",
    "TORCH_SYMM_MEM_DISABLE_MULTICAST", "NVSHMEM_DISABLE_NVLS", "OPENBLAS_CORETYPE",
)  # fmt: skip
_MAX_FILES = 200_000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """A directory and the program in it."""

    root: Path

    @property
    def program(self) -> Path:
        """Where the program's source stands."""
        return self.root / PROGRAM

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """The variables of a worker: a short list that is passed on, and every cache inside this workspace. No secret."""
        inner = {name: outer[name] for name in _PASSED_ON if name in outer}
        inner |= {name: str(self.root / place) for name, place in _CACHES.items()}
        return inner | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}

    def remove(self) -> None:
        """Delete the directory, whatever modes, depth or names were left in it. Raises OSError for what can't be deleted."""
        remove_tree(self.root)


def remove_tree(root: Path) -> None:
    """Delete a directory that an adversary filled; every process that could still write there has ended.

    A nest of thousands of directories overflows the recursion of `shutil.rmtree` and the length of a path, so each level
    is moved up beside the first one and emptied there. No link is followed. Nothing happens where there is no directory.
    """
    if not root.is_dir() or root.is_symlink():
        return
    top = os.open(root, _DIRECTORY)
    fresh = (f"moved-up-{number}" for number in itertools.count())
    try:
        pending = _empty(top, top, fresh)
        while pending:
            name = pending.pop()
            os.chmod(name, stat.S_IRWXU, dir_fd=top)  # a directory: `_empty` names nothing else
            inner = os.open(name, _DIRECTORY, dir_fd=top)
            try:
                pending += _empty(inner, top, fresh)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    root.rmdir()


def remove_orphans(prefix: str) -> None:
    """Delete the temporary folders `<prefix><pid>-*` of evaluators that were killed before they could do it themselves."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*-*"):
        owner = folder.name.removeprefix(prefix).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            with contextlib.suppress(OSError):  # another user's, or another evaluator is deleting it too
                remove_tree(folder)


def _empty(folder: int, top: int, fresh: Iterator[str]) -> list[str]:
    """Delete the files of an open directory and move its directories to `top` under fresh names, which are returned."""
    os.fchmod(folder, stat.S_IRWXU)
    with os.scandir(folder) as listing:
        entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
    taken = {name for name, _ in entries} if folder == top else set()
    moved = []
    for name, is_folder in entries:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
            continue
        os.chmod(name, stat.S_IRWXU, dir_fd=folder)  # a directory moves only if it may be written
        target = next(new for new in fresh if new not in taken)
        os.rename(name, target, src_dir_fd=folder, dst_dir_fd=top)
        moved.append(target)
    return moved


def create_workspace(parent: Path, name: str, source: str) -> Workspace:
    """A new workspace under `parent` with `source` as its program."""
    space = Workspace(root=parent / name)
    for place in ("", *_CACHES.values()):
        (space.root / place).mkdir(mode=0o700, parents=True)
    space.program.write_text(source, encoding="utf-8", errors="surrogatepass")
    return space


def manifest(root: Path, *, skip: Path | None = None) -> dict[str, tuple[int, int]]:
    """Size and change time (ns) of every file under `root`, not following links; `skip` is left out."""
    found: dict[str, tuple[int, int]] = {}
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = [name for name in folders if here / name != skip]
        for name in files:
            try:
                status = (here / name).lstat()
            except OSError:
                continue  # gone between the listing and the look
            found[str((here / name).relative_to(root))] = (status.st_size, status.st_ctime_ns)
            if len(found) >= _MAX_FILES:
                return found
    return found


def changes(before: Mapping[str, tuple[int, int]], after: Mapping[str, tuple[int, int]]) -> tuple[str, ...]:
    """Names of files that appeared, changed or vanished."""
    return tuple(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)))
