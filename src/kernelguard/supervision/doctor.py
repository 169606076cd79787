"""What this host can prove: each capability by a probe, none by assumption. No torch and no CUDA context in this process."""

import fcntl
import importlib.util
import itertools
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from kernelguard.confinement import kernel
from kernelguard.gate.page import create_page
from kernelguard.supervision.card import find_card, nvml
from kernelguard.terms.findings import Capability, CapabilityStatus

S, P, U = CapabilityStatus.SUPPORTED, CapabilityStatus.PARTIAL, CapabilityStatus.UNSUPPORTED
_PROBE_S = 20.0
_NAMESPACE_FLAGS = {"pid": kernel.CLONE_NEWPID, "ipc": kernel.CLONE_NEWIPC, "network": kernel.CLONE_NEWNET}
_PROGRAM = "int main(void) { return 0; }\n"


def examine(device: str, gpu: int) -> tuple[Capability, ...]:
    """Every capability that an evaluation on `device` (`cuda` or `cpu`) uses, the required ones first."""
    cuda = device == "cuda"
    found = [_system(), _memfd(), _lease_folder(), *_gpu(gpu, required=cuda)]
    found += [_module("torch", required=True), _module("triton", required=False)]
    found += [_compiler("c_compiler", "cc", "c"), _compiler("cxx_compiler", "c++", "cpp"), _tool("ninja"), _tool("nvcc")]
    found += [_landlock(), _namespaces(), _read_in_place(required=not cuda), _clock()]
    return tuple(sorted(found, key=lambda capability: not capability.required))


def _capability(name: str, status: CapabilityStatus, detail: str, *, required: bool = False) -> Capability:
    return Capability(name=name, status=status, required=required, detail=detail)


def _system() -> Capability:
    version = platform.python_version()
    if sys.platform != "linux":
        return _capability(
            "linux", U, f"{platform.system()} is not served: processes are confined and read by Linux calls", required=True
        )
    return _capability("linux", S, f"Linux {platform.release()}, Python {version}", required=True)


def _memfd() -> Capability:
    """A sealed page must refuse to shrink."""
    try:
        page = create_page()
    except OSError as error:
        return _capability("sealed_memory", U, f"no sealed memfd: {error.strerror}", required=True)
    try:
        os.ftruncate(page, 1)
    except PermissionError:
        return _capability("sealed_memory", S, "a sealed page refused to shrink", required=True)
    finally:
        os.close(page)
    return _capability("sealed_memory", U, "a sealed page could be shrunk", required=True)


def _lease_folder() -> Capability:
    with tempfile.NamedTemporaryFile(prefix="kernelguard-probe-") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return _capability("device_lease", U, f"no file locks in {tempfile.gettempdir()}: {error.strerror}", required=True)
    return _capability("device_lease", S, "file locks work", required=True)


def _gpu(gpu: int, *, required: bool) -> list[Capability]:
    card = find_card(gpu)
    if card is None:
        if Path("/dev/kfd").exists():
            detail = "an AMD card is there, and ROCm is not served: outputs are read by CUDA IPC"
        elif nvml() is None:
            detail = "no NVIDIA driver answers (nvidia-ml-py asks it; pip install 'kernelguard-bench[gpu]')"
        else:
            detail = f"the driver knows no card {gpu}"
        return [_capability("cuda_runtime", U, detail, required=required)]
    major, minor = card.capability
    detail = f"{card.name}, driver {card.driver}, compute capability {major}.{minor}, {card.memory_bytes >> 30} GiB"
    return [
        _capability("cuda_runtime", S, detail, required=required),
        _module("cuda.bindings", required=required),
        _exclusive(gpu),
    ]


def _exclusive(gpu: int) -> Capability:
    """Other compute processes on the card disturb the clocks; MIG slices and MPS share it by design."""
    binding = nvml()
    if binding is None:
        return _capability("exclusive_device", U, "nvidia-ml-py is missing")
    handle = binding.nvmlDeviceGetHandleByIndex(gpu)
    try:
        if binding.nvmlDeviceGetMigMode(handle)[0]:
            return _capability("exclusive_device", U, "the card is split by MIG: a slice shares memory bandwidth with the others")
    except binding.NVMLError:
        mig = "MIG is not known to this card"
    else:
        mig = "MIG is off"
    others = len(binding.nvmlDeviceGetComputeRunningProcesses(handle))
    if others:
        return _capability("exclusive_device", P, f"{others} other compute processes are on the card")
    return _capability("exclusive_device", S, f"no other compute process is on the card; {mig}")


def _module(name: str, *, required: bool) -> Capability:
    try:
        there = importlib.util.find_spec(name) is not None
    except ImportError:
        there = False
    label = name.replace(".", "_")
    detail = f"{name} can be imported" if there else f"{name} is not installed"
    return _capability(label, S if there else U, detail, required=required)


def _tool(name: str) -> Capability:
    place = shutil.which(name)
    return _capability(name, S if place else U, f"found at {place}" if place else f"{name} is not on the PATH")


def _compiler(name: str, command: str, suffix: str) -> Capability:
    """A one-line program must compile."""
    if shutil.which(command) is None:
        return _capability(name, U, f"{command} is not on the PATH")
    with tempfile.TemporaryDirectory(prefix="kernelguard-probe-") as folder:
        source = Path(folder) / f"probe.{suffix}"
        source.write_text(_PROGRAM, encoding="ascii")
        code = _run([command, str(source), "-o", str(source.with_suffix(""))])
    return _capability(
        name, S if code == 0 else U, f"{command} compiled a program" if code == 0 else f"{command} fails with exit {code}"
    )


def _run(command: Sequence[str]) -> int:
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_S, check=False).returncode
    except (OSError, subprocess.TimeoutExpired):
        return -1


def _in_child(probe: Callable[[], bool]) -> bool:
    """Whether `probe` holds in a forked child, which it may confine for good."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if probe() else 1
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def _landlock() -> Capability:
    """A confined child must not be able to open a file that it could open before."""
    abi = kernel.landlock_abi()
    if abi < 1:
        return _capability("landlock", U, "this kernel has no Landlock, or it is not enabled at boot (lsm=landlock)")

    def denied() -> bool:
        kernel.landlock(readable=("/usr",), writable=())
        try:
            os.close(os.open("/etc/passwd", os.O_RDONLY))
        except PermissionError:
            return True
        return False

    works = _in_child(denied)
    return _capability(
        "landlock", S if works else U, f"ABI {abi}; a forbidden file {'was refused' if works else 'could be read'}"
    )


def _namespaces() -> Capability:
    missing = [name for name, flag in _NAMESPACE_FLAGS.items() if not _in_child(partial(_leaves, flag))]
    if missing:
        detail = f"can't be left: {', '.join(missing)} (run as root or with CAP_SYS_ADMIN)"
        return _capability("namespaces", P if len(missing) < len(_NAMESPACE_FLAGS) else U, detail)
    return _capability("namespaces", S, "PID, IPC and network namespaces can be left")


def _leaves(flag: int) -> bool:
    try:
        kernel.unshare(flag)
    except OSError:
        return False
    return True


def _read_in_place(*, required: bool) -> Capability:
    """The kernel must let us read a process of ours that did not ask for it: how CPU outputs are read."""
    allowed = Path("/proc/sys/kernel/yama/ptrace_scope")
    scope = allowed.read_text(encoding="ascii").strip() if allowed.exists() else "0"
    fine = scope in ("0", "1")  # 1: workers name the referee's descent before any program is loaded
    detail = f"yama ptrace_scope is {scope}"
    return _capability("read_in_place", S if fine else U, detail, required=required)


def _clock() -> Capability:
    readings = [time.monotonic_ns() for _ in range(1000)]
    steps = [later - earlier for earlier, later in itertools.pairwise(readings) if later > earlier]
    return _capability("clock", S if steps else U, f"monotonic clock steps of {min(steps, default=0)} ns", required=True)
