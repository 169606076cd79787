"""Audit and enforce behind upstream's entry point."""

import pytest
import torch

from kernelbench.eval import eval_kernel_against_ref
from kernelbench.hardened import policy_of
from kernelbench.utils import get_package_resource_path, read_file
from kernelguard.native.messages import NativeRequest
from kernelguard.terms.errors import UsageError
from kernelguard.terms.policy import Mode, Precision, Rules


def example(name: str) -> str:
    """The source of an example."""
    return read_file(get_package_resource_path(f"prompts/{name}.py"))


def test_upstreams_arguments_become_a_policy() -> None:
    """What the caller asked for must not get lost on the way: card, precision, counts and deadline."""
    request = NativeRequest(
        reference_src="", candidate_src="", device="cuda:1", precision="bf16", num_correct_trials=7, num_perf_trials=9
    )

    policy = policy_of(request, mode="audit", rules="practical", timeout_s=12.5)

    assert (policy.mode, policy.rules) == (Mode.AUDIT, Rules.PRACTICAL)
    assert (policy.device, policy.gpu, policy.precision) == ("cuda", 1, Precision.BF16)
    assert (policy.num_correct_trials, policy.num_perf_trials, policy.limits.timeout_s) == (7, 9, 12.5)


def test_an_unknown_policy_is_refused() -> None:
    """A misspelt policy must not fall back to a looser one."""
    with pytest.raises(UsageError, match="reward_hardening_policy='strict': must be one of source_strict, practical, behaviour"):
        policy_of(NativeRequest(reference_src="", candidate_src=""), mode="audit", rules="strict", timeout_s=1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="says what happens without CUDA")
def test_without_cuda_the_record_is_the_documented_one() -> None:
    """Golden: the documentation's example of a fail-closed record."""
    result = eval_kernel_against_ref(
        example("model_ex_add"), example("model_new_ex_add"), measure_performance=True, reward_hardening_mode="enforce"
    )

    hardening = result.reward_hardening
    assert (result.compiled, result.correctness, result.runtime, result.ref_runtime) == (False, False, -1.0, -1.0)
    assert result.metadata == {"reward_hardening_unsupported": "CUDA unavailable"}
    assert hardening is not None
    assert hardening["schema_version"] == "1.1"
    assert (hardening["integrity_status"], hardening["verified"], hardening["verified_runtime"]) == ("UNSUPPORTED", False, None)
    assert [(one["code"], one["detector"]) for one in hardening["findings"]] == [("RH-14", "RH-CUDA-UNAVAILABLE")]  # type: ignore[attr-defined]
