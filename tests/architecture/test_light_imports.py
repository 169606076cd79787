"""The judging half and the supervisor start without torch: they must run where it is broken, and start fast."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIGHT = ("terms", "decision", "detectors", "preflight", "reporting", "wire", "supervision")
PROBE = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
heavy = sorted({"torch", "triton", "numpy", "ray", "litellm"} & set(sys.modules))
sys.exit(f"loaded {', '.join(heavy)}" if heavy else 0)
"""


def _modules(root: Path, package: str) -> list[str]:
    """Every module of `kernelguard.<package>` but its programs (`__main__`), by dotted name."""
    base = root / "src" / "kernelguard" / package
    files = sorted(base.rglob("*.py")) if base.is_dir() else [base.with_suffix(".py")]
    dotted = [".".join(file.relative_to(root / "src").with_suffix("").parts) for file in files if file.stem != "__main__"]
    return [name.removesuffix(".__init__") for name in dotted]


def _import_afresh(root: Path, *modules: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROBE, *modules],
        env={**os.environ, "PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("package", LIGHT)
def test_a_light_package_loads_no_machinery(root: Path, package: str) -> None:
    """One careless import at the top of one file would cost every process of every evaluation seconds and memory."""
    probe = _import_afresh(root, *_modules(root, package))

    assert probe.returncode == 0, probe.stderr


def test_importing_the_root_brings_words_and_not_machinery(root: Path) -> None:
    """`import kernelguard` is what a script that only reads records does."""
    probe = _import_afresh(root, "kernelguard")

    assert probe.returncode == 0, probe.stderr
