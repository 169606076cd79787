"""The looks inside a worker: they see what changed, and are steady where nothing did."""

import threading
import time
from types import CodeType

import pytest
import torch

from kernelguard.worker import probes
from kernelguard.worker.describe import describe


def test_two_looks_at_an_untouched_process_are_equal() -> None:
    """Otherwise every honest program would be accused."""
    first, second = probes.look("a"), probes.look("b")

    assert first.flags == second.flags
    assert first.environment == second.environment
    assert first.functions == second.functions
    assert first.python_threads == second.python_threads


@pytest.mark.parametrize(
    ("owner", "name"), [(time, "perf_counter"), (torch, "allclose"), (torch.Tensor, "data_ptr"), (torch.cuda, "synchronize")]
)
def test_a_replaced_function_changes_its_fingerprint(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
    """The simplest attack on a clock or a check."""
    before = probes.functions()
    monkeypatch.setattr(owner, name, lambda *_: 0)
    after = probes.functions()

    changed = {key for key in before if before[key] != after.get(key)}
    assert any(key.endswith(f".{name}") for key in changed)
    assert len(changed) == 1


@pytest.mark.parametrize("function", [torch.cuda.synchronize, describe])
def test_a_swapped_code_is_seen_though_the_object_is_the_same(function: object) -> None:
    """Identity alone would miss it, in the library's functions and in our own."""
    before, code = probes.functions(), function.__code__  # type: ignore[attr-defined]  # Python functions have one
    assert isinstance(code, CodeType)
    try:
        function.__code__ = code.replace(co_consts=(*code.co_consts, "swapped"))  # type: ignore[attr-defined]  # as above
        after = probes.functions()
    finally:
        function.__code__ = code  # type: ignore[attr-defined]  # as above

    assert [key for key in before if before[key] != after[key]] != []
    assert probes.functions() == before


def test_flags_environment_and_threads_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part of a look by one change that it is for; the variable's value itself stays inside."""
    before, stop = probes.look("before"), threading.Event()
    thread = threading.Thread(target=stop.wait, name="lurking")
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "secret-value")
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", not torch.backends.cudnn.benchmark)
    thread.start()
    try:
        after = probes.look("after")
    finally:
        stop.set()
        thread.join(5)

    assert {name for name in after.flags if after.flags[name] != before.flags[name]} == {"cudnn.benchmark"}
    assert set(after.environment) - set(before.environment) == {"CUDA_LAUNCH_BLOCKING"}
    assert "secret-value" not in str(after)
    assert set(after.python_threads) - set(before.python_threads) == {"lurking"}
