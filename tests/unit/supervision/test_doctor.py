"""The doctor's word decides whether people trust a host: each of its answers must follow the host, not a hope."""

import os
import sys
from pathlib import Path

import pytest

from kernelguard.supervision.card import Card, find_card
from kernelguard.supervision.doctor import examine
from kernelguard.supervision.system_probes import NotHeld, in_fork
from kernelguard.supervision.toolchain import toolchain
from kernelguard.terms.findings import Capability, CapabilityStatus

S, P, U = CapabilityStatus.SUPPORTED, CapabilityStatus.PARTIAL, CapabilityStatus.UNSUPPORTED
ALWAYS_REQUIRED = {"linux", "python", "clock", "torch", "sealed_memory", "device_lease", "process_tree"}
ANSWER = "GPU-8f0c, NVIDIA H200, 580.95.05, 9.0, 143771\n"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the probes are Linux calls")


def by_name(capabilities: tuple[Capability, ...]) -> dict[str, Capability]:
    """Each capability once."""
    found = {one.name: one for one in capabilities}
    assert len(found) == len(capabilities)
    return found


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole PATH, with nothing in it yet."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("CC", "CXX", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    return folder


def install(folder: Path, name: str, body: str) -> None:
    """A program that is a few lines of shell."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(0o755)


@pytest.fixture(scope="module")
def on_cpu() -> dict[str, Capability]:
    """This host, examined once for device=cpu."""
    return by_name(examine("cpu", 0))


def test_what_an_evaluation_on_the_cpu_needs_is_required(on_cpu: dict[str, Capability]) -> None:
    """`ready` must mean that `check` works, and a missing GPU must not stop a CPU evaluation."""
    required = {name for name, one in on_cpu.items() if one.required}

    assert required == ALWAYS_REQUIRED | {"read_in_place"}
    assert {name: one.detail for name, one in on_cpu.items() if one.denies_trust} == {}


def test_required_capabilities_come_first(on_cpu: dict[str, Capability]) -> None:
    """What stops a host must not scroll away."""
    order = [one.required for one in on_cpu.values()]

    assert order == sorted(order, reverse=True)


def test_every_answer_says_what_was_tried(on_cpu: dict[str, Capability]) -> None:
    """A status without a reason can't be argued with."""
    assert [name for name, one in on_cpu.items() if not one.detail] == []


def test_torch_is_imported_elsewhere_and_named_with_its_version(on_cpu: dict[str, Capability]) -> None:
    """A torch that is installed and does not load is the commonest broken host; only an import tells."""
    assert on_cpu["torch"].status is S
    assert on_cpu["torch"].detail.startswith("torch 2.")


@pytest.mark.skipif(find_card(0) is not None, reason="there is a card")
def test_cuda_without_a_card_denies_trust(tools: Path) -> None:
    """The host that was asked for a GPU and has none must not be called ready."""
    del tools

    examined = by_name(examine("cuda", 0))

    assert examined["cuda_runtime"].denies_trust
    assert "card 0" in examined["cuda_runtime"].detail
    assert not examined["read_in_place"].required


@pytest.mark.skipif(find_card(0) is not None, reason="there is a card")
def test_a_card_that_torch_does_not_see_is_no_cuda(tools: Path) -> None:
    """A driver and a CPU build of torch look complete until the first call."""
    install(tools, "nvidia-smi", f"printf '{ANSWER}'")

    examined = by_name(examine("cuda", 0))

    assert examined["cuda_runtime"].denies_trust
    assert "NVIDIA H200" in examined["cuda_runtime"].detail
    assert "torch sees no card" in examined["cuda_runtime"].detail
    assert examined["exclusive_device"].status is U


def test_without_tools_nothing_is_said_to_compile(tools: Path) -> None:
    """A compiler that is not there must be missed here, not in the middle of a batch."""
    del tools

    found = by_name(toolchain())

    assert {name for name, one in found.items() if one.status is not U and name != "nvcc"} == set()
    assert found["ninja"].detail == "ninja is not on the PATH"


def test_a_compiler_that_fails_is_quoted(tools: Path) -> None:
    """`found` is not `works`: a wrapper without its toolchain is on the PATH too."""
    install(tools, "c++", "echo 'no such file: cc1plus' >&2; exit 1")

    assert by_name(toolchain())["cxx_compiler"].detail == "c++ fails with exit code 1: no such file: cc1plus"


def test_a_compiler_that_writes_nothing_is_not_believed(tools: Path) -> None:
    """An exit code is a claim; the object file is the proof."""
    install(tools, "cc", "exit 0")

    assert by_name(toolchain())["c_compiler"].status is U


def test_nvidia_smi_stands_in_for_the_binding(tools: Path) -> None:
    """nvidia-ml-py is optional, and a card must not vanish for want of it."""
    install(tools, "nvidia-smi", f"printf '{ANSWER}'")
    if find_card(99) is None:
        pytest.skip("the NVML binding answers here")

    assert find_card(0) == Card(
        index=0, uuid="GPU-8f0c", name="NVIDIA H200", driver="580.95.05", capability=(9, 0), memory_bytes=143771 << 20
    )


@pytest.mark.parametrize(
    "body", ["echo 'No devices were found'; exit 6", "echo 'Failed to initialize NVML'", "printf 'GPU-1, X, 1, [N/A], 1'", ""]
)
def test_an_answer_of_nvidia_smi_that_names_no_card_is_none(tools: Path, body: str) -> None:
    """nvidia-smi puts its errors where its answers go."""
    install(tools, "nvidia-smi", body or "exit 0")

    assert find_card(99) is None


def test_a_probe_that_hangs_dies_or_raises_does_not_hold() -> None:
    """The doctor must come back from a host that is broken in a way nobody foresaw."""

    def refuses() -> str:
        raise NotHeld("because")

    def is_denied() -> str:
        raise PermissionError(13, "Permission denied")

    assert (in_fork("x", refuses).held, in_fork("x", refuses).detail) == (False, "because")
    assert in_fork("x", is_denied).detail == "Permission denied"
    assert in_fork("x", lambda: os._exit(0)).detail == "the probe died"  # type: ignore[func-returns-value]
    assert in_fork("x", lambda: "done").held


def test_an_examination_leaves_nothing_behind_but_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs on every host before every batch."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    examine("cpu", 0)

    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["no-device.lock"]
