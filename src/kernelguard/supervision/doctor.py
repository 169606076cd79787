"""What this host can prove: each capability by a probe, none by assumption. No torch and no CUDA context in this process."""

import itertools
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from kernelguard.supervision import spawn
from kernelguard.supervision.card import Card, find_card, nvml
from kernelguard.supervision.libraries import Libraries, Library
from kernelguard.supervision.system_probes import Probe, Probes
from kernelguard.supervision.toolchain import toolchain
from kernelguard.terms.errors import HostError, WireError
from kernelguard.terms.findings import Capability, CapabilityStatus

M = TypeVar("M")
S, P, U = CapabilityStatus.SUPPORTED, CapabilityStatus.PARTIAL, CapabilityStatus.UNSUPPORTED
_ANSWER_S = 120.0  # importing torch from a cold disk
_END_S = 5.0
_OLDEST_PYTHON = (3, 10)
_COARSEST_CLOCK_NS = 1000
_NAMESPACES = ("pid", "ipc", "network")
_MPS = "nvidia-cuda-mps"


def examine(device: str, gpu: int) -> tuple[Capability, ...]:
    """Every capability that an evaluation on `device` (`cuda` or `cpu`) uses, the required ones first.

    Takes seconds: compilers are run and torch is imported, in processes of their own. Raises HostError if none can be started.
    """
    if sys.platform != "linux":
        detail = f"{platform.system()} is not served: processes are confined and read by Linux calls"
        return (_capability("linux", U, detail, required=True),)
    cuda = device == "cuda"
    libraries = _ask("kernelguard.supervision.libraries", Libraries)
    answers = {probe.name: probe for probe in _ask("kernelguard.supervision.system_probes", Probes).answers}
    found = [_capability("linux", S, f"Linux {platform.release()} on {platform.machine()}", required=True), _python(), _clock()]
    found += [_torch(libraries, cuda=cuda), *_gpu(find_card(gpu), gpu, libraries, required=cuda)]
    found += _system(answers, cuda=cuda)
    found += [_library("triton", libraries, required=False), *toolchain()]
    return tuple(sorted(found, key=lambda capability: not capability.required))


def _ask(module: str, expected: type[M]) -> M:
    with tempfile.TemporaryDirectory(prefix="kernelguard-probe-") as folder:
        asked = spawn.start(module, log=Path(folder, "log"), extra_environment={})
        try:
            return asked.channel.receive(expected, timeout_s=_ANSWER_S)
        except WireError as error:
            raise HostError(f"{module} gave no answer: {asked.last_words() or error}") from error
        finally:
            asked.end(_END_S)


def _capability(name: str, status: CapabilityStatus, detail: str, *, required: bool = False) -> Capability:
    return Capability(name=name, status=status, required=required, detail=detail)


def _python() -> Capability:
    oldest = ".".join(map(str, _OLDEST_PYTHON))
    fine = sys.version_info >= _OLDEST_PYTHON
    detail = f"Python {platform.python_version()}" + ("" if fine else f"; {oldest} is the oldest that is served")
    return _capability("python", S if fine else U, detail, required=True)


def _clock() -> Capability:
    readings = [time.monotonic_ns() for _ in range(1000)]
    steps = [later - earlier for earlier, later in itertools.pairwise(readings) if later > earlier]
    if not steps:
        return _capability("clock", U, "the monotonic clock stands still over 1000 readings", required=True)
    fine = min(steps) <= _COARSEST_CLOCK_NS
    return _capability("clock", S if fine else P, f"the monotonic clock has steps of {min(steps)} ns", required=True)


def _named(name: str, libraries: Libraries) -> Library:
    return next(library for library in libraries.found if library.name == name)


def _library(name: str, libraries: Libraries, *, required: bool, label: str = "") -> Capability:
    library = _named(name, libraries)
    detail = f"{name} {library.version} was imported" if library.version else f"{name} can't be imported: {library.reason}"
    return _capability(label or name, S if library.version else U, detail, required=required)


def _torch(libraries: Libraries, *, cuda: bool) -> Capability:
    """Importable, and where a GPU was asked for, built for CUDA."""
    imported = _library("torch", libraries, required=True)
    if imported.status is not S or not cuda:
        return imported
    if libraries.torch_hip:
        detail = f"torch is built for ROCm {libraries.torch_hip}, which is not served: outputs are read by CUDA IPC"
        return _capability("torch", U, detail, required=True)
    if not libraries.torch_cuda:
        return _capability("torch", U, f"torch {_named('torch', libraries).version} is built without CUDA", required=True)
    return _capability("torch", S, f"{imported.detail}, built for CUDA {libraries.torch_cuda}", required=True)


def _gpu(card: Card | None, gpu: int, libraries: Libraries, *, required: bool) -> list[Capability]:
    if card is None:
        return [_capability("cuda_runtime", U, _why_no_card(gpu), required=required)]
    major, minor = card.capability
    detail = f"{card.name}, driver {card.driver}, compute capability {major}.{minor}, {card.memory_bytes >> 30} GiB"
    if _is_split(gpu):
        status, detail = U, f"{detail}; it is split by MIG, which is not served: a slice shares its clocks with the others"
    elif libraries.cards_seen:
        status = S
    else:
        status, detail = U, f"{detail}; torch sees no card"
    return [
        _capability("cuda_runtime", status, detail, required=required),
        _library("cuda.bindings.driver", libraries, required=required, label="cuda_bindings"),
        _nvml(),
        _exclusive(gpu),
    ]


def _why_no_card(gpu: int) -> str:
    if Path("/dev/kfd").exists():
        return "an AMD card is there, and ROCm is not served: outputs are read by CUDA IPC"
    if nvml() is not None:
        return f"the driver knows no card {gpu}"
    return f"neither NVML nor nvidia-smi finds card {gpu}: no NVIDIA driver, or none that is visible in this container"


def _is_split(gpu: int) -> bool:
    """Whether NVML says that MIG is on. Cards without MIG answer with an error."""
    binding = nvml()
    if binding is None:
        return False
    try:
        return bool(binding.nvmlDeviceGetMigMode(binding.nvmlDeviceGetHandleByIndex(gpu))[0])
    except binding.NVMLError:
        return False


def _nvml() -> Capability:
    if nvml() is None:
        return _capability("nvml", U, "nvidia-ml-py can't be used: neither device memory nor the card's clocks are watched")
    return _capability("nvml", S, "device memory and the card's clocks are watched")


def _exclusive(gpu: int) -> Capability:
    """Other compute processes on the card disturb the clocks; under MPS all of them share one context."""
    if any(_name(entry).startswith(_MPS) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        return _capability("exclusive_device", U, "an MPS server runs here: processes share the card while they are timed")
    binding = nvml()
    if binding is None:
        return _capability("exclusive_device", U, "without nvidia-ml-py other processes on the card are not seen")
    try:
        others = len(binding.nvmlDeviceGetComputeRunningProcesses(binding.nvmlDeviceGetHandleByIndex(gpu)))
    except binding.NVMLError as error:
        return _capability("exclusive_device", U, f"NVML does not tell of other processes: {error}")
    if others:
        return _capability("exclusive_device", P, f"{others} other compute processes are on the card")
    return _capability("exclusive_device", S, "no other compute process is on the card")


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text(errors="replace")
    except OSError:
        return ""  # it ended between the listing and the look


def _system(answers: Mapping[str, Probe], *, cuda: bool) -> Iterable[Capability]:
    required = {"sealed_memory", "device_lease", "process_tree"} | (set() if cuda else {"read_in_place"})
    single = ("sealed_memory", "device_lease", "process_tree", "read_in_place", "landlock", "own_proc")
    for name in single:
        yield _capability(name, S if answers[name].held else U, answers[name].detail, required=name in required)
    yield _namespaces(answers)
    cgroup = answers["cgroup_memory"]
    yield _capability("cgroup_memory", S if cgroup.held else P, cgroup.detail)


def _namespaces(answers: Mapping[str, Probe]) -> Capability:
    missing = [f"{name} ({answers[name].detail})" for name in _NAMESPACES if not answers[name].held]
    if not missing:
        return _capability("namespaces", S, "PID, IPC and network namespaces were left")
    user = "a user namespace could be left" if answers["user"].held else "a user namespace neither"
    detail = f"can't be left: {', '.join(missing)}; {user}"
    return _capability("namespaces", P if len(missing) < len(_NAMESPACES) else U, detail)
