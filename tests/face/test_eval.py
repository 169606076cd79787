"""The face's functions by upstream's names: their call shapes are a contract with other people's scripts."""

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import kernelguard
from kernelbench import dataset, eval, score, timing  # noqa: A004 - upstream's module name
from kernelbench.kernel_static_checker import validate_kernel_static
from kernelguard.terms.errors import UsageError

PARAMETERS = {
    eval.eval_kernel_against_ref: "original_model_src custom_model_src seed_num=42 num_correct_trials=1 num_perf_trials=10 "
    "measure_performance=False timing_method=cuda_event verbose=False build_dir=None device=None backend=cuda "
    "precision=torch.float32 check_for_excessive_speedup=True excessive_speedup_threshold=10",
    eval.run_and_check_correctness: "original_model_instance new_model_instance get_inputs_fn metadata num_correct_trials "
    "verbose=False seed=42 device=None backend=cuda precision=torch.float32",
    eval.load_original_model_and_inputs: "model_original_src context",
    eval.load_custom_model: "model_custom_src context build_directory=None",
    eval.load_custom_model_with_tempfile: "model_custom_src entry_point=ModelNew",
    eval.fetch_ref_arch_from_problem_id: "problem_id dataset with_name=False",
    eval.build_compile_cache: "custom_model_src verbose=False build_dir=None",
    timing.measure_ref_program_time: "ref_arch_name ref_arch_src num_warmup=5 num_trials=100 discard_first=1 "
    "timing_method=cuda_event use_torch_compile=False torch_compile_backend=inductor torch_compile_options=default device=None "
    "verbose=False precision=fp32",
    timing.time_execution_with_cuda_event: "kernel_fn args num_warmup=3 num_trials=10 discard_first=1 verbose=True device=None",
    timing.time_execution_with_host_time: "kernel_fn args num_warmup=3 num_trials=10 discard_first=1 verbose=True device=None",
    timing.time_execution_with_do_bench_interface: "kernel_fn args num_warmup=3 num_trials=10 discard_first=1 verbose=True "
    "device=None",
    timing.time_execution_with_do_bench_impl: "kernel_fn args num_warmup=3 num_trials=10 discard_first=1 verbose=True "
    "device=None",
    timing.get_timing_function: "method=cuda_event",
    timing.get_timing_stats: "elapsed_times device=None",
    timing.clear_l2_cache: "device=cuda",
    timing.fetch_baseline_time: "level_name problem_id dataset baseline_time_filepath",
    dataset.LocalKernelBenchDataset: f"level base_path={dataset.KERNEL_BENCH_PATH} problem_ids=None id_range=None",
    dataset.HuggingFaceKernelBenchDataset: "level dataset_name=ScalingIntelligence/KernelBench problem_ids=None id_range=None",
    dataset.construct_kernelbench_dataset: "level source=local dataset_name=ScalingIntelligence/KernelBench "
    f"base_path={dataset.KERNEL_BENCH_PATH} problem_ids=None id_range=None",
    score.fastp: "is_correct baseline_speed actual_speed n p",
    validate_kernel_static: "code backend=cuda precision=fp16 forbidden=None warnings=None",
}


@pytest.mark.parametrize("function", PARAMETERS, ids=lambda function: function.__name__)
def test_positional_parameters_are_upstreams(function: Callable[..., object]) -> None:
    """Names, order and defaults; only two devices differ: upstream looks up the current CUDA device at import, we at the call."""
    parameters = [one for one in inspect.signature(function).parameters.values() if one.kind is not one.KEYWORD_ONLY]
    spelled = [one.name if one.default is one.empty else f"{one.name}={one.default}" for one in parameters]

    assert " ".join(spelled) == PARAMETERS[function]


def test_a_result_has_upstreams_fields_and_one_of_ours() -> None:
    """Records are written from these fields, and other people's readers know them by name."""
    assert eval.KernelExecResult().model_dump() == {
        "compiled": False,
        "correctness": False,
        "metadata": {},
        "runtime": -1.0,
        "runtime_stats": {},
        "ref_runtime": -1.0,
        "ref_runtime_stats": {},
        "reward_hardening": None,
    }


def test_precision_words_have_upstreams_meaning() -> None:
    """Including the refusal: an unknown word must not fall back to fp32."""
    assert eval.get_torch_dtype_from_string("bf16") is torch.bfloat16
    assert eval.get_tolerance_for_precision("fp32") == 1e-4
    assert eval.get_tolerance_for_precision(torch.float16) == 1e-2
    with pytest.raises(UsageError, match="fp32, fp16, bf16"):
        eval.get_torch_dtype_from_string("fp8")


def test_arguments_that_can_not_be_are_one_line(reference: str, honest: str) -> None:
    """A typing slip in a long command must name the argument."""
    with pytest.raises(UsageError, match="timing_method"):
        eval.eval_kernel_against_ref(reference, honest, device="cpu", timing_method="stopwatch")
    with pytest.raises(UsageError, match="reward_hardening_mode='strict': must be one of off, audit, enforce"):
        eval.eval_kernel_against_ref(reference, honest, device="cpu", reward_hardening_mode="strict")


def test_programs_load_into_the_given_namespace(reference: str, honest: str) -> None:
    """Callers of these helpers build models themselves and read other names from the namespace."""
    context: dict[str, object] = {}

    loaded = eval.load_original_model_and_inputs(reference, context)
    candidate = eval.load_custom_model(honest, {})

    assert loaded is not None
    model, get_init_inputs, get_inputs = loaded
    assert context["batch_size"] == 4
    assert model(*get_init_inputs())(*get_inputs()).shape == (4, 8)
    assert candidate is not None
    assert eval.load_custom_model("def broken(:", {}) is None
    assert eval.load_original_model_and_inputs("1 / 0", {}) is None


def test_a_candidate_can_be_imported_from_a_file_that_the_caller_removes(honest: str) -> None:
    """Triton reads the source of its kernels from that file."""
    model, file = eval.load_custom_model_with_tempfile(honest)

    assert "def forward" in inspect.getsource(model.forward)
    eval.graceful_eval_cleanup({}, "cpu", file)
    assert not Path(file.name).exists()


def test_the_trials_run_on_models_that_are_already_built() -> None:
    """Upstream's inner function, for callers with their own loading."""
    metadata: dict[str, object] = {}

    result = eval.run_and_check_correctness(
        torch.nn.ReLU(), torch.nn.Threshold(0.0, 0.0), lambda: [torch.rand(4) - 0.5], metadata, 2, device="cpu"
    )

    assert result.correctness
    assert metadata["correctness_trials"] == "(2 / 2)"


def test_metadata_that_json_can_not_hold_becomes_text() -> None:
    """One exception object in a record must not lose a whole results file."""
    cleaned = eval.check_metadata_serializable_all_types({"error": ValueError("no"), "nested": {"size": torch.Size([2])}})

    assert cleaned == {"error": "no", "nested": {"size": [2]}}


def test_the_package_and_its_score_load_neither_torch_nor_a_client() -> None:
    """Reading results must not take seconds, and importing must not read .env or open connections."""
    program = (
        "import sys, kernelbench, kernelbench.score, kernelbench.dataset, kernelbench.utils\n"
        "print(sorted({'torch', 'litellm', 'openai', 'dotenv', 'datasets'} & set(sys.modules)))"
    )
    sources = Path(kernelguard.__file__).parents[1]

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=sources, check=True, timeout=60)

    assert done.stdout == "[]\n"
