"""A program becomes a model, or says at which stage it failed, whatever it raises."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from kernelguard.wire.framing import decode, encode
from kernelguard.wire.messages import Load, LoadFailed
from kernelguard.wire.tree import pack
from kernelguard.worker.load import MODULE, Failed, construct, import_program, load

GOOD = """
import torch
class ModelNew(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(size))
"""


@pytest.fixture(autouse=True)
def _forget_the_program() -> Iterator[None]:
    """The module is registered by name; the next test loads another."""
    yield
    sys.modules.pop(MODULE, None)


def order(path: Path, *arguments: object, seed: int = 1, dtype: str = "float32") -> Load:
    """What the supervisor asks for."""
    packed = pack(list(arguments), lambda _: None)
    return Load(path=str(path), entry="ModelNew", init_args=packed, init_tensors=(), weight_seed=seed, dtype=dtype)


def written(folder: Path, source: str) -> Path:
    """The candidate's file."""
    path = folder / "candidate.py"
    path.write_text(source)
    return path


def test_the_same_weight_seed_gives_the_same_weights(tmp_path: Path) -> None:
    """Reference and candidate get equal weights by upstream's rule."""
    path = written(tmp_path, GOOD)
    first, again, other = (load(order(path, 8, seed=seed), [], "cpu")[0].weight for seed in (1, 1, 2))  # type: ignore[attr-defined]

    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_model_is_moved_to_the_dtype_and_looked_at_twice(tmp_path: Path) -> None:
    """After the import and after the construction."""
    model, states, _, _ = load(order(written(tmp_path, GOOD), 8, dtype="bfloat16"), [], "cpu")

    assert isinstance(model, torch.nn.Module)
    assert model.weight.dtype is torch.bfloat16
    assert [state.moment for state in states] == ["after import", "after construction"]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("def broken(:", "SyntaxError"),
        ("import no_such_module_here", "ModuleNotFoundError"),
        ("x = 1", "AttributeError"),
        ("ModelNew = lambda: None", "AttributeError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import sys; sys.exit(0)", "SystemExit"),
    ],
)
def test_an_import_that_fails_says_import_and_what_was_raised(tmp_path: Path, source: str, error: str) -> None:
    """Leaving by SystemExit is no way out."""
    with pytest.raises(Failed) as caught:
        import_program(str(written(tmp_path, source)), "ModelNew")

    assert caught.value.failure.stage == "import"
    assert caught.value.failure.error.startswith(error)
    assert error in caught.value.failure.text


def test_a_missing_file_fails_at_import(tmp_path: Path) -> None:
    """Not every path that is named exists."""
    with pytest.raises(Failed) as caught:
        import_program(str(tmp_path / "absent.py"), "ModelNew")

    assert caught.value.failure.stage == "import"


@pytest.mark.parametrize(
    ("source", "stage"),
    [
        ("class ModelNew:\n    def __init__(self): raise ValueError('no')", "construct"),
        ("import torch\nclass ModelNew(torch.nn.Module):\n    def to(self, **_): raise ValueError('no')", "move"),
    ],
)
def test_construction_and_move_have_stages_of_their_own(tmp_path: Path, source: str, stage: str) -> None:
    """Upstream calls these runtime errors, and an import that fails a compilation error."""
    path = written(tmp_path, source)

    with pytest.raises(Failed) as caught:
        construct(import_program(str(path), "ModelNew"), order(path), [], "cpu")
    assert (caught.value.failure.stage, caught.value.failure.error) == (stage, "ValueError: no")


def test_the_text_of_a_failure_is_bounded(tmp_path: Path) -> None:
    """A candidate must not fill our records."""
    with pytest.raises(Failed) as caught:
        import_program(str(written(tmp_path, "raise ValueError('x' * 1_000_000)")), "ModelNew")

    assert len(caught.value.failure.error) < 400
    assert len(caught.value.failure.text) <= 8000


def test_a_failure_can_always_be_sent(tmp_path: Path) -> None:
    """What a program raises may hold any text; its stage must still arrive."""
    with pytest.raises(Failed) as caught:
        import_program(str(written(tmp_path, "raise ValueError(chr(0xD800))")), "ModelNew")

    message = LoadFailed(failure=caught.value.failure)
    assert decode(encode(message), (LoadFailed,)).failure.stage == "import"
