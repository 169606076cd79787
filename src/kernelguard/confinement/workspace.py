"""A disposable directory for one worker: its program, HOME, TMPDIR and caches, and nothing that belongs to another."""

import os
import shutil
import stat
from collections.abc import Mapping
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
        """Delete the directory, whatever modes were left in it."""
        for folder, _, _ in os.walk(self.root):
            Path(folder).chmod(stat.S_IRWXU)
        shutil.rmtree(self.root, ignore_errors=True)


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
