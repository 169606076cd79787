"""The example pair that the documentation's commands evaluate."""

from pathlib import Path

import pytest
import torch

from kernelbench.eval import eval_kernel_against_ref
from kernelbench.utils import get_package_resource_path


def example(name: str) -> str:
    """The source of an example."""
    return Path(get_package_resource_path(f"prompts/{name}.py")).read_text()


def test_the_reference_serves_both_devices() -> None:
    """Its inputs come from the CPU, as those of every problem do; 64 MiB each keep the kernel above the launch cost."""
    namespace: dict[str, object] = {}

    exec(compile(example("model_ex_add"), "model_ex_add.py", "exec"), namespace)  # noqa: S102 - our own example
    inputs = namespace["get_inputs"]()  # type: ignore[operator]

    assert [(value.shape, value.dtype, value.device.type) for value in inputs] == [((4096, 4096), torch.float32, "cpu")] * 2


@pytest.mark.slow
def test_the_cpp_example_is_correct_on_the_cpu() -> None:
    """Compiles with the host's compiler: the whole path of a candidate with an extension, without a GPU."""
    result = eval_kernel_against_ref(
        example("model_ex_add"), example("model_new_ex_add_cpp"), backend="cpp", device="cpu", timeout=300
    )

    assert result.compiled, result.metadata
    assert result.correctness


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "backend"), [("model_new_ex_add", "cuda"), ("model_new_ex_add_triton", "triton")])
def test_the_gpu_examples_are_correct_and_timed(name: str, backend: str) -> None:
    """They are what a newcomer runs first."""
    result = eval_kernel_against_ref(
        example("model_ex_add"), example(name), num_correct_trials=5, measure_performance=True, backend=backend
    )

    assert result.compiled, result.metadata
    assert result.correctness
    assert result.runtime > 0.01
