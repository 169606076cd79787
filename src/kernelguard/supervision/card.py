"""What the driver says about a card, by NVML: no CUDA context is made in this process."""

import importlib
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """One GPU. Memory in bytes; `capability` like (9, 0); `processes` are the ids of compute processes that NVML shows."""

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
    """The card with this index, or None."""
    binding = nvml()
    if binding is None:
        return None
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
