"""What every test may rely on: tests marked `gpu` are skipped, with the reason, where there is no CUDA device to run them on."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip `gpu` tests by the device file, so that collecting the suite neither imports torch nor starts CUDA."""
    if Path("/dev/nvidia0").exists() or Path("/dev/nvidiactl").exists():
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="no NVIDIA device on this machine"))
