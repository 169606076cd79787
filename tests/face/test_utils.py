"""Code blocks, files and architectures."""

import os
from pathlib import Path

import pytest

from kernelbench import utils

ANSWER = "First:\n```cpp\nint x;\n```\nthen\n```python\nx = 1\n\ny = 2\n```\nand\n```\nz\n```\n"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (ANSWER, "int x;"),
        ("```python\nx = 1\n```", "x = 1"),
        ("```\nx = 1\n```", "x = 1"),
        ("```py\nx = 1\n```", "x = 1"),
        ("```python x = 1```", "x = 1"),
        ("no code at all", None),
        ("```python\nx = 1  # cut off", None),
        (None, None),
    ],
)
def test_the_first_block_comes_without_fence_and_tag(answer: str | None, code: str | None) -> None:
    """A tag left in the code is a NameError at import, and a good kernel is lost."""
    assert utils.extract_first_code(answer, ["python", "cpp"]) == code


def test_last_and_all_blocks() -> None:
    """Models often explain with one block and answer with another."""
    assert utils.extract_last_code(ANSWER, ["python", "cpp"]) == "z"
    assert utils.extract_code_blocks(ANSWER, ["python", "cpp"]) == "int x; \n x = 1\n\ny = 2 \n z"
    assert utils.extract_python_code(ANSWER) == "x = 1\n\ny = 2\n"


def test_a_file_that_can_not_be_read_is_empty_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Upstream's contract, with the reason beside it."""
    (tmp_path / "here").write_text("text")

    assert utils.read_file(tmp_path / "here") == "text"
    assert utils.read_file(tmp_path / "absent") == ""
    assert "absent" in capsys.readouterr().err


def test_architectures_are_named_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong name would compile for another card without a word."""
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "")
    monkeypatch.setenv("PYTORCH_ROCM_ARCH", "")

    utils.set_gpu_arch(["Hopper", "Ada"])

    assert os.environ["TORCH_CUDA_ARCH_LIST"] == "Hopper;Ada"
    with pytest.raises(ValueError, match="Invalid architecture: sm_90"):
        utils.set_gpu_arch(["sm_90"])
    with pytest.raises(ValueError, match="Cannot mix"):
        utils.set_gpu_arch(["Hopper", "gfx942"])


def test_files_of_the_package_are_found_wherever_it_is_installed() -> None:
    """Documented commands name them by their place in the repository."""
    inside = utils.resolve_path("src/kernelbench/prompts/model_ex_add.py")

    assert inside == utils.get_package_resource_path("prompts/model_ex_add.py")
    with pytest.raises(FileNotFoundError, match="absent"):
        utils.get_package_resource_path("prompts/absent.py")
