"""Upstream's static check by its call."""

import pytest

from kernelbench.kernel_static_checker import validate_kernel_static
from kernelbench.utils import get_package_resource_path, read_file
from kernelguard.terms.errors import UsageError

THREAD = "import threading\n\nthreading.Thread(target=print).start()\n"


def example(name: str) -> str:
    """The source of an example candidate."""
    return read_file(get_package_resource_path(f"prompts/{name}.py"))


@pytest.mark.parametrize(("name", "backend"), [("model_new_ex_add", "cuda"), ("model_new_ex_add_triton", "triton")])
def test_the_examples_pass(name: str, backend: str) -> None:
    """A check that refuses the example refuses everybody."""
    assert validate_kernel_static(example(name), backend=backend, precision="fp32") == (True, [], [])


def test_a_thread_is_an_error_with_its_code() -> None:
    """Callers show these lines to whoever wrote the kernel."""
    valid, errors, _ = validate_kernel_static(THREAD + example("model_new_ex_add"))

    assert not valid
    assert any(line.startswith("RH-10 ") for line in errors)


def test_the_callers_lists_choose_between_error_warning_and_silence() -> None:
    """Upstream's users tune the check by its categories."""
    source = THREAD + example("model_new_ex_add")

    _, errors, remarks = validate_kernel_static(source, forbidden=[], warnings=["thread_injection"])
    assert (errors, [line[:5] for line in remarks]) == ([], ["RH-10"] * len(remarks))
    assert remarks
    assert validate_kernel_static(source, forbidden=[], warnings=[]) == (True, [], [])


def test_a_candidate_without_a_kernel_is_refused_whatever_the_lists() -> None:
    """The backend's own check is always on."""
    plain = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, a, b):\n        return a + b\n"

    valid, errors, _ = validate_kernel_static(plain, forbidden=[], warnings=[])

    assert not valid
    assert [line[:5] for line in errors] == ["RH-04"] * len(errors)


def test_words_that_mean_nothing_are_told() -> None:
    """A misspelt category would switch a check off in silence."""
    _, _, remarks = validate_kernel_static(example("model_new_ex_add"), forbidden=["thread_injektion"])

    assert remarks == ["unknown check 'thread_injektion' was ignored"]
    with pytest.raises(UsageError, match="fp32, fp16 or bf16"):
        validate_kernel_static("", precision="fp12")
