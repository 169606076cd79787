"""What compiles a candidate: each tool proved by using it as torch's extensions and Triton do."""

import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelguard.terms.findings import Capability, CapabilityStatus

S, U = CapabilityStatus.SUPPORTED, CapabilityStatus.UNSUPPORTED
_COMPILE_S = 60.0
_C = "int main(void) { return 0; }\n"
_CXX = '#include <string_view>\nint main() { constexpr std::string_view word{"x"}; return word.empty(); }\n'
_EXTENSION = "#include <Python.h>\nint version = PY_VERSION_HEX;\n"
_KERNEL = "__global__ void kernel() {}\n"


def toolchain() -> tuple[Capability, ...]:
    """C for Triton's launchers; C++17, Python's headers and ninja for torch's extensions; nvcc for CUDA C++.

    None is required: a candidate that needs what is missing fails to build, and says so.
    """
    cxx = os.environ.get("CXX", "c++")
    return (
        _compiles("c_compiler", [os.environ.get("CC", "cc")], "c", _C),
        _compiles("cxx_compiler", [cxx, "-std=c++17"], "cpp", _CXX),
        _compiles("python_headers", [cxx, "-std=c++17", f"-I{sysconfig.get_paths()['include']}"], "cpp", _EXTENSION),
        _runs("ninja", ["ninja", "--version"]),
        _compiles("nvcc", [_nvcc()], "cu", _KERNEL),
    )


def _nvcc() -> str:
    """Where torch looks for it: CUDA_HOME, CUDA_PATH, the PATH, /usr/local/cuda."""
    homes = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
    places = [str(Path(home, "bin", "nvcc")) for home in homes]
    return next((place for place in (*places, "nvcc", "/usr/local/cuda/bin/nvcc") if shutil.which(place)), "nvcc")


def _compiles(name: str, command: Sequence[str], suffix: str, program: str) -> Capability:
    """A program of one or two lines must become an object file."""
    with tempfile.TemporaryDirectory(prefix="kernelguard-probe-") as folder:
        source, target = Path(folder, f"probe.{suffix}"), Path(folder, "probe.o")
        source.write_text(program, encoding="ascii")
        fault = _fault([*command, "-c", str(source), "-o", str(target)])
        if not fault and not target.exists():
            fault = f"{command[0]} succeeds and writes nothing"
    return _capability(name, fault, f"{command[0]} compiled `{program.splitlines()[0]}`")


def _runs(name: str, command: Sequence[str]) -> Capability:
    return _capability(name, _fault(command), f"found at {shutil.which(command[0])}")


def _fault(command: Sequence[str]) -> str:
    """Why the command can't be used; empty if it ran and succeeded."""
    if shutil.which(command[0]) is None:
        return f"{command[0]} is not on the PATH"
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_COMPILE_S, check=False)
    except subprocess.TimeoutExpired:
        return f"{command[0]} did not end within {_COMPILE_S:g} s"
    except OSError as error:
        return f"{command[0]} can't be started: {error.strerror}"
    if ended.returncode == 0:
        return ""
    lines = ended.stderr.decode(errors="replace").strip().splitlines()
    return f"{command[0]} fails with exit code {ended.returncode}" + (f": {lines[0][:160]}" if lines else "")


def _capability(name: str, fault: str, success: str) -> Capability:
    return Capability(name=name, status=U if fault else S, required=False, detail=fault or success)
