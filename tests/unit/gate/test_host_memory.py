"""Outputs are read out of another process where they are; whatever address it names, the referee survives."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernelguard.gate.host_memory import HostBorrower, HostLender
from kernelguard.gate.memory import Unreadable, flat_bytes, input_view, is_dense
from kernelguard.wire.gate_messages import InputSpec, OutputSpec

CHILD = """
import ctypes, sys
values = (ctypes.c_float * 1024)(*range(1024))
print(ctypes.addressof(values), flush=True)
for line in sys.stdin:
    print(values[0], values[1023], flush=True)
"""


@pytest.fixture
def child() -> Iterator[tuple[subprocess.Popen[str], OutputSpec]]:
    """Another process that holds 1024 floats, and the spec that names them truly."""
    process = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = int(process.stdout.readline())
    yield process, OutputSpec(segment="", offset=address, dtype="float32", shape=(32, 32), strides=(32, 1), device="cpu")
    assert process.stdin is not None
    process.stdin.close()
    process.wait(10)
    process.stdout.close()


def test_an_output_is_copied_out_of_another_process(child: tuple[subprocess.Popen[str], OutputSpec]) -> None:
    """The worker never copies its answer and can't choose when it is looked at."""
    process, spec = child
    copy = torch.empty(4096, dtype=torch.uint8)

    HostLender().snapshot(process.pid, spec, copy)

    assert copy.view(torch.float32).tolist() == list(range(1024))
    assert HostLender().still(process.pid, spec, copy)


def test_a_second_look_sees_a_change_and_poison_reaches_the_other_process(
    child: tuple[subprocess.Popen[str], OutputSpec],
) -> None:
    """Late writes are found, and recycled memory holds no right answer."""
    process, spec = child
    lender, copy = HostLender(), torch.empty(4096, dtype=torch.uint8)
    lender.snapshot(process.pid, spec, copy)
    lender.overwrite(process.pid, spec, -7.0)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("show\n")
    process.stdin.flush()

    assert process.stdout.readline().split() == ["-7.0", "-7.0"]
    assert not lender.still(process.pid, spec, copy)


@pytest.mark.parametrize(
    "lie",
    [
        {"offset": 0},
        {"offset": -8},
        {"offset": 8},
        {"offset": 1 << 46},
        {"offset": 1 << 62},
        {"offset": (1 << 80)},
        {"segment": "ab" * 64},
        {"shape": (1 << 40,)},
        {"shape": (31, 32)},
        {"dtype": "float64"},
    ],
)
def test_memory_that_is_not_there_is_unreadable(child: tuple[subprocess.Popen[str], OutputSpec], lie: dict[str, object]) -> None:
    """Bad addresses are the candidate's fault and never the referee's crash."""
    process, spec = child
    bad = replace(spec, **lie)  # type: ignore[arg-type]  # the names are those of the fields

    with pytest.raises(Unreadable):
        HostLender().snapshot(process.pid, bad, torch.empty(4096, dtype=torch.uint8))


def test_a_process_that_is_gone_is_unreadable() -> None:
    """It may die between DONE and the snapshot."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(10)
    spec = OutputSpec(segment="", offset=4096, dtype="uint8", shape=(8,), strides=(1,), device="cpu")

    with pytest.raises(Unreadable):
        HostLender().snapshot(process.pid, spec, torch.empty(8, dtype=torch.uint8))


@pytest.mark.parametrize("size", [0, 1, 4096, 10_001])
def test_a_lent_slot_is_one_memory_for_both(size: int) -> None:
    """The worker reads what the referee pours, without a copy between."""
    view, handle, descriptor = HostLender().lend(size)
    slot = HostBorrower().borrow(size, handle, descriptor)
    view.fill_(7)

    assert slot.numel() == view.numel() == size
    assert bool((slot == 7).all())
    assert not Path(f"/proc/self/fd/{descriptor}").exists()  # the borrower closes what it has mapped


def test_an_input_view_has_the_layout_that_was_asked_for() -> None:
    """Transposed inputs stay transposed."""
    slot = torch.empty(64, dtype=torch.uint8)
    flat_bytes(slot).copy_(torch.arange(16, dtype=torch.float32).view(torch.uint8))

    view = input_view(slot, InputSpec(slot=0, dtype="float32", shape=(4, 3), strides=(1, 4)))

    assert view.tolist() == torch.arange(12.0).view(3, 4).T.tolist()


@pytest.mark.parametrize("permutation", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_any_order_of_dimensions_is_dense_and_a_gap_or_overlap_is_not(permutation: tuple[int, ...]) -> None:
    """Honest kernels may return channels-last; an expanded output holds less than it claims."""
    dense = torch.empty(2, 3, 4).permute(permutation)

    assert is_dense(dense.shape, dense.stride())
    assert is_dense((), ())
    assert not is_dense((4, 4), (0, 1))
    assert not is_dense((4, 4), (8, 1))
    assert not is_dense((4, 4), (-4, 1))


def test_reading_another_process_needs_no_more_than_this_test_has() -> None:
    """The tests above read a child of this process; here this process reads itself, which always works."""
    value = ctypes.c_double(2.5)
    spec = OutputSpec(segment="", offset=ctypes.addressof(value), dtype="float64", shape=(), strides=(), device="cpu")
    copy = torch.empty(8, dtype=torch.uint8)

    HostLender().snapshot(os.getpid(), spec, copy)

    assert copy.view(torch.float64).item() == 2.5
