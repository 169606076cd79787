"""What the driver says about a card, by NVML or else by nvidia-smi: no CUDA context is made in this process."""

import importlib
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType

_SMI_S = 10.0  # a driver that is not kept loaded takes seconds to answer the first question
_SMI_FIELDS = "uuid,name,driver_version,compute_cap,memory.total"


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """One GPU. Memory in bytes; `capability` is the compute capability, like (9, 0)."""

    index: int
    uuid: str
    name: str
    driver: str
    capability: tuple[int, int]
    memory_bytes: int

    @property
    def arch(self) -> str:
        """For TORCH_CUDA_ARCH_LIST: the architecture with its specific features (wgmma, TMA) from Hopper on."""
        major, minor = self.capability
        return f"{major}.{minor}" + ("a" if major >= 9 else "")


def nvml() -> ModuleType | None:
    """The started NVML binding, or None where there is no driver or no nvidia-ml-py."""
    try:
        module = importlib.import_module("pynvml")
        module.nvmlInit()
    except Exception:  # noqa: BLE001 - the binding's own error class can't be named before it is imported
        return None
    return module


def find_card(index: int) -> Card | None:
    """The card with this index, or None. Without nvidia-ml-py nvidia-smi is asked."""
    binding = nvml()
    if binding is None:
        return _card_by_smi(index)
    try:
        handle = binding.nvmlDeviceGetHandleByIndex(index)
        return Card(
            index=index,
            uuid=_text(binding.nvmlDeviceGetUUID(handle)),
            name=_text(binding.nvmlDeviceGetName(handle)),
            driver=_text(binding.nvmlSystemGetDriverVersion()),
            capability=tuple(binding.nvmlDeviceGetCudaComputeCapability(handle)),
            memory_bytes=int(binding.nvmlDeviceGetMemoryInfo(handle).total),
        )
    except binding.NVMLError:
        return None


def _card_by_smi(index: int) -> Card | None:
    command = ["nvidia-smi", f"--query-gpu={_SMI_FIELDS}", "--format=csv,noheader,nounits", "-i", str(index)]
    try:
        answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SMI_S, check=True)
        return _parse_smi(index, answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None  # no such program, no driver, no such card, or an answer that is none


def _parse_smi(index: int, line: str) -> Card:
    """The card of one CSV line with `_SMI_FIELDS`, memory in MiB. Raises ValueError for anything else."""
    uuid, name, driver, capability, memory_mib = (field.strip() for field in line.strip().split(","))
    major, minor = capability.split(".")
    return Card(
        index=index,
        uuid=uuid,
        name=name,
        driver=driver,
        capability=(int(major), int(minor)),
        memory_bytes=int(memory_mib) << 20,
    )


def memory_used(index: int) -> int | None:
    """Bytes in use on the whole card, None if unknown."""
    binding = nvml()
    if binding is None:
        return None
    try:
        return int(binding.nvmlDeviceGetMemoryInfo(binding.nvmlDeviceGetHandleByIndex(index)).used)
    except binding.NVMLError:
        return None


def clocks(index: int) -> dict[str, int]:
    """SM clock in MHz, temperature in C and the bits of throttle reasons, as far as NVML tells."""
    binding = nvml()
    if binding is None:
        return {}
    readings = {
        "sm_mhz": lambda handle: binding.nvmlDeviceGetClockInfo(handle, binding.NVML_CLOCK_SM),
        "temperature_c": lambda handle: binding.nvmlDeviceGetTemperature(handle, binding.NVML_TEMPERATURE_GPU),
        "throttle_reasons": binding.nvmlDeviceGetCurrentClocksThrottleReasons,
    }
    found: dict[str, int] = {}
    for name, read in readings.items():
        with suppress(binding.NVMLError):  # a reading that this card does not give is left out
            found[name] = int(read(binding.nvmlDeviceGetHandleByIndex(index)))
    return found


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
