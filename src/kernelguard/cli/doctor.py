"""`kernelguard doctor`: what this host can prove, and what to install for what it can't."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from kernelguard.cli.engine import Engine
from kernelguard.cli.exit_codes import ExitCode
from kernelguard.cli.signature import takes
from kernelguard.cli.terminal import printer
from kernelguard.reporting.plain import safe_line
from kernelguard.reporting.text import capability_table, titled
from kernelguard.terms.findings import Capability, CapabilityStatus

REMEDIES = (  # a word in a capability's name, and what brings it; the first that fits
    ("cuda_bindings", "pip install cuda-bindings, in the release of the driver's CUDA"),
    ("cuda", "an NVIDIA driver and a CUDA build of PyTorch; or judge on the CPU: kernelguard check --device cpu"),
    ("triton", "pip install triton, in the release that the PyTorch here was built for"),
    ("nvcc", "the CUDA toolkit of torch.version.cuda, with nvcc on PATH or CUDA_HOME set"),
    ("disassembl", "the CUDA toolkit (nvdisasm), or pip install triton, which brings its own"),
    ("torch", "pip install torch, 2.6 or later; for a GPU a build for its CUDA"),
    ("python_headers", "Python's headers: apt install python3-dev"),
    ("exclusive", "end what else runs on the card, and switch MPS off; figures are noisier until then"),
    ("process_tree", "a kernel with CONFIG_PROC_CHILDREN"),
    ("lease", "a temporary folder (TMPDIR) that can be written and locked, and in it kernelguard-leases"),
    ("compiler", "a C++17 compiler: apt install g++, or conda install gxx"),
    ("ninja", "pip install ninja"),
    ("trace", "the CUPTI library of the CUDA toolkit, and a C compiler to build the tracer with"),
    ("nvml", "pip install nvidia-ml-py"),
    ("landlock", "Linux 5.13 or later with Landlock enabled (lsm=landlock,... on the kernel command line)"),
    ("namespace", "CAP_SYS_ADMIN: run as root, in a container with --cap-add SYS_ADMIN"),
    ("own_proc", "CAP_SYS_ADMIN: run as root, in a container with --cap-add SYS_ADMIN and an unmasked /proc"),
    ("read_in_place", "permission to read other processes' memory: CAP_SYS_PTRACE, or sysctl kernel.yama.ptrace_scope=1"),
    ("seccomp", "a kernel with CONFIG_SECCOMP_FILTER; in a container, a profile that allows seccomp()"),
    ("cgroup", "cgroup v2 with a delegated subtree: systemd-run --user --scope -p Delegate=yes kernelguard ..."),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DoctorOptions:
    """What the command line of `doctor` holds."""

    device: Annotated[str, typer.Option(help="cuda or cpu.")] = "cuda"
    gpu: Annotated[int, typer.Option(help="Which GPU of this host.")] = 0
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False


@takes(DoctorOptions)
def doctor(engine: Engine, options: DoctorOptions) -> int:
    """Examine this host: what can it observe and confine, and what is missing?

    Exit code: 0 a candidate can be verified here, 3 it can't.
    """
    capabilities = engine.examine(options.device, options.gpu)
    ready = not any(one.denies_trust for one in capabilities)
    if options.as_json:
        print(json.dumps({"ready": ready, "device": options.device, "capabilities": _by_name(capabilities)}, indent=2))
    else:
        printer().print(_examined(capabilities, ready=ready))
    return ExitCode.VERIFIED if ready else ExitCode.NOT_EVALUABLE


def remedy(capability: Capability) -> str:
    """What to install or switch on for a missing capability; empty where nothing is known to help."""
    return next((words for word, words in REMEDIES if word in capability.name.lower()), "")


def _by_name(capabilities: Iterable[Capability]) -> dict[str, dict[str, object]]:
    return {
        one.name: {"status": one.status.value, "required": one.required, "detail": one.detail, "remedy": _remedy_if_missing(one)}
        for one in capabilities
    }


def _remedy_if_missing(capability: Capability) -> str:
    return "" if capability.status is CapabilityStatus.SUPPORTED else remedy(capability)


def _examined(capabilities: tuple[Capability, ...], *, ready: bool) -> Group:
    verdict = "A candidate can be verified here." if ready else "No candidate can be verified here."
    advice = [Text(f"{safe_line(one.name)}: {words}") for one in capabilities if (words := _remedy_if_missing(one))]
    return Group(
        Text(verdict, style="bold green" if ready else "bold red"),
        *titled("What this host offers", [capability_table(capabilities)] if capabilities else []),
        *titled("What would help", advice),
    )
