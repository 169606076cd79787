"""The native evaluation, in this process, on the CPU: upstream's outcomes, without upstream's lost results."""

from collections.abc import Callable

import pytest
import torch

from kernelguard.native.evaluation import evaluate_native
from kernelguard.native.messages import NativeResult
from kernelguard.native.numerics import tolerance_of, trial_seeds
from kernelguard.terms.errors import HostError, ProblemError, UsageError

Evaluate = Callable[..., NativeResult]

STATS = {"mean", "std", "min", "max", "num_trials", "hardware", "device"}


@pytest.fixture
def evaluate(reference: str) -> Evaluate:
    """`evaluate_native` on the CPU against the linear reference, three correctness trials."""

    def run(candidate: str, *, reference_src: str = reference, **options: object) -> NativeResult:
        chosen = {"device": "cpu", "timing_method": "host_time", "num_correct_trials": 3, "num_perf_trials": 2} | options
        return evaluate_native(reference_src, candidate, **chosen)  # type: ignore[arg-type]

    return run


def test_the_trial_seeds_are_upstreams() -> None:
    """Other seeds would judge other inputs, and figures of two evaluators could not be compared."""
    assert trial_seeds(42, 5) == [734796314, 576165995, 2197670066, 839703249, 2584932063]


def test_tolerances_are_upstreams() -> None:
    """They decide what native correctness means."""
    assert [tolerance_of(dtype) for dtype in (torch.float32, torch.float16, torch.bfloat16)] == [1e-4, 1e-2, 1e-2]


def test_an_honest_candidate_is_correct_and_timed(evaluate: Evaluate, honest: str) -> None:
    """The plain case, field by field: this is what ends up in eval_results.json."""
    result = evaluate(honest, measure_performance=True)

    assert (result.compiled, result.correctness) == (True, True)
    assert result.metadata["correctness_trials"] == "(3 / 3)"
    assert {"hardware", "device"} <= result.metadata.keys()
    for runtime, stats in ((result.runtime, result.runtime_stats), (result.ref_runtime, result.ref_runtime_stats)):
        assert stats.keys() == STATS
        assert runtime == stats["mean"] > 0
        assert stats["num_trials"] == 2


def test_without_measurement_there_is_no_time(evaluate: Evaluate, honest: str) -> None:
    """-1.0 and empty statistics are upstream's words for "not measured"."""
    result = evaluate(honest)

    assert (result.runtime, result.ref_runtime) == (-1.0, -1.0)
    assert (result.runtime_stats, result.ref_runtime_stats) == ({}, {})


def test_a_wrong_value_is_reported_for_every_trial_and_the_reference_is_timed_all_the_same(
    evaluate: Evaluate, honest: str
) -> None:
    """Upstream goes on after a mismatch, and records the reference's time for incorrect candidates too."""
    result = evaluate(honest.replace("+ self.linear.bias", "+ self.linear.bias + 0.25"), measure_performance=True)

    assert (result.compiled, result.correctness) == (True, False)
    assert result.metadata["max_difference"] == ["0.250000"] * 3
    assert result.metadata["avg_difference"] == ["0.250000"] * 3
    assert result.metadata["correctness_issue"] == "Output mismatch"
    assert result.metadata["correctness_trials"] == "(0 / 3)"
    assert result.runtime == -1.0
    assert result.ref_runtime > 0


def test_a_wrong_shape_ends_the_trials(evaluate: Evaluate, honest: str) -> None:
    """The message and its two keys are what upstream's readers look for."""
    result = evaluate(honest.replace("x @", "x[:1] @"))

    assert not result.correctness
    assert result.metadata["correctness_issue_name"] == "correctness_issue"
    assert result.metadata["correctness_issue"] == ("Output shape mismatch: Expected torch.Size([4, 8]), got torch.Size([1, 8])")
    assert "correctness_trials" not in result.metadata


def test_the_tolerance_follows_the_precision(evaluate: Evaluate, honest: str) -> None:
    """The same error of 0.004 is wrong in fp32 and right in bf16."""
    candidate = honest.replace("+ self.linear.bias", "+ self.linear.bias + 0.004")

    assert not evaluate(candidate).correctness
    assert evaluate(candidate, precision="bf16").correctness


def test_models_stay_in_train_mode_and_trials_record_no_gradients(evaluate: Evaluate, honest: str) -> None:
    """Batch norm and dropout behave otherwise in eval mode; upstream never leaves train mode."""
    candidate = honest.replace("return x @", "assert self.training and not torch.is_grad_enabled()\n        return x @")

    assert evaluate(candidate).correctness


def test_weights_are_equal_only_if_the_generator_is_used_alike(evaluate: Evaluate, honest: str) -> None:
    """Upstream copies no weights: seed and order of creation decide. A kernel that draws first gets other weights."""
    candidate = honest.replace("super().__init__()", "super().__init__()\n        torch.rand(1)")

    assert not evaluate(candidate).correctness


@pytest.mark.parametrize("backend", ["cuda", "triton"])
def test_a_candidate_can_not_change_the_problems_constants(evaluate: Evaluate, honest: str, backend: str) -> None:
    """In upstream's shared namespace this line shrinks the workload for both sides and passes."""
    candidate = "batch_size = 1\n" + honest.replace("return x @", "assert x.shape[0] == 4\n        return x @")

    assert evaluate(candidate, backend=backend).correctness


def test_a_candidate_may_lean_on_the_references_imports_where_upstream_lets_it(evaluate: Evaluate, honest: str) -> None:
    """Generated CUDA candidates often forget an import that the shared namespace supplied; Triton's never could."""
    without_imports = honest.replace("import torch\nimport torch.nn as nn", "")

    assert evaluate(without_imports, backend="cuda").correctness
    assert not evaluate(without_imports, backend="triton").compiled


@pytest.mark.parametrize("message", ["lock", "No such file or directory"])
def test_an_error_that_speaks_of_a_lock_is_a_result(evaluate: Evaluate, message: str) -> None:
    """Upstream returns None for these words, `blockIdx` in a compiler's log among them, and its batch dies of it."""
    result = evaluate(f"raise RuntimeError({message!r})")

    assert not result.compiled
    assert result.metadata["compilation_error_name"] == "builtins.RuntimeError"
    assert result.metadata["compilation_error"] == message


@pytest.mark.parametrize("error", ["ValueError('no')", "KeyError('no')", "SystemExit(0)"])
def test_any_error_in_the_constructor_is_a_result(evaluate: Evaluate, honest: str, error: str) -> None:
    """Upstream catches RuntimeError alone here; the others end its evaluation without a record."""
    result = evaluate(honest.replace("super().__init__()", f"raise {error}"))

    assert (result.compiled, result.correctness) == (True, False)
    assert result.metadata["runtime_error_name"] == "builtins." + error.partition("(")[0]


def test_an_error_in_forward_keeps_its_traceback(evaluate: Evaluate, honest: str) -> None:
    """The short text is cut at 200 characters; without the traceback nobody could tell what happened."""
    result = evaluate(honest.replace("return x @", "raise RuntimeError('y' * 500)\n        return x @"))

    assert result.metadata["runtime_error"] == "y" * 197 + "..."
    assert result.metadata["runtime_error_name"] == "builtins.RuntimeError"
    assert "in forward" in str(result.metadata["runtime_error_traceback"])


def test_an_error_while_timing_leaves_the_candidate_correct_and_untimed(evaluate: Evaluate, honest: str) -> None:
    """Three correctness trials pass, the fourth call fails: upstream keeps the correctness."""
    candidate = honest.replace(
        "return x @", "self.calls = getattr(self, 'calls', 0) + 1\n        assert self.calls < 4\n        return x @"
    )

    result = evaluate(candidate, measure_performance=True)

    assert (result.correctness, result.runtime) == (True, -1.0)
    assert "error_during_performance" in result.metadata
    assert result.ref_runtime > 0


def test_what_does_not_parse_is_a_failed_compilation(evaluate: Evaluate) -> None:
    """The record says where; upstream's says only that something was wrong."""
    result = evaluate("def broken(:")

    assert not result.compiled
    assert result.metadata["compilation_error_name"] == "SyntaxError"
    assert "line 1" in str(result.metadata["compilation_error"])


def test_a_candidate_without_modelnew_is_a_failed_compilation(evaluate: Evaluate) -> None:
    """A common slip of generators; it must not look like a crash of ours."""
    assert evaluate("x = 1").metadata["compilation_error"] == "the candidate does not define ModelNew"


def test_integer_inputs_keep_their_dtype(evaluate: Evaluate) -> None:
    """Cast to float, as upstream does it, cross entropy over class indices has no reference that runs (level 1, problem 95)."""
    reference = (
        "import torch\nimport torch.nn as nn\n"
        "class Model(nn.Module):\n"
        "    def forward(self, x, target):\n"
        "        return torch.nn.functional.cross_entropy(x, target)\n"
        "def get_inputs():\n    return [torch.rand(4, 8), torch.randint(0, 8, (4,))]\n"
        "def get_init_inputs():\n    return []\n"
    )
    candidate = (
        "import torch\n"
        "class ModelNew(torch.nn.Module):\n"
        "    def forward(self, x, target):\n"
        "        return -torch.log_softmax(x, 1)[torch.arange(4), target].mean()\n"
    )

    assert evaluate(candidate, reference_src=reference).correctness


def test_a_speedup_above_the_threshold_is_noted_and_changes_nothing(evaluate: Evaluate, reference: str, honest: str) -> None:
    """Upstream's flag is information: the sample stays correct and keeps its time."""
    slow = reference.replace("return self.linear(x)", "import time; time.sleep(0.05)\n        return self.linear(x)")

    result = evaluate(honest, reference_src=slow, measure_performance=True, num_correct_trials=1)
    unchecked = evaluate(honest, reference_src=slow, measure_performance=True, check_for_excessive_speedup=False)

    assert result.metadata["excessive_speedup"] is True
    assert result.correctness
    assert result.runtime > 0
    assert "excessive_speedup" not in unchecked.metadata
    assert unchecked.ref_runtime == -1.0


def test_a_reference_that_does_not_run_is_nobody_elses_fault(evaluate: Evaluate, honest: str) -> None:
    """It must be told apart from a wrong candidate: whoever asks has to mend the problem."""
    with pytest.raises(ProblemError, match="does not define get_inputs"):
        evaluate(honest, reference_src="class Model: pass\ndef get_init_inputs(): return []")
    with pytest.raises(ProblemError, match="can't be built"):
        evaluate(honest, reference_src="def Model(*args): 1 / 0\ndef get_inputs(): return []\nget_init_inputs = get_inputs")


def test_contradicting_requests_are_refused_before_anything_runs(evaluate: Evaluate) -> None:
    """One clear line, instead of a run that ends in an obscure error."""
    with pytest.raises(UsageError, match="timing_method=host_time"):
        evaluate("exit()", timing_method="cuda_event", measure_performance=True)
    with pytest.raises(UsageError, match="tilelang"):
        evaluate("exit()", backend="tilelang")


@pytest.mark.skipif(torch.cuda.is_available(), reason="says what happens without CUDA")
def test_without_cuda_nothing_is_evaluated_unless_the_cpu_is_asked_for(evaluate: Evaluate, honest: str) -> None:
    """A silent fall back to the CPU would put CPU times into a GPU benchmark."""
    with pytest.raises(HostError, match="device=cpu"):
        evaluate(honest, device=None)
