"""What `scripts/run_and_check.py` does: KernelBench's parameters and result lines over the evaluation of `kernelguard check`."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

from kernelguard.cli.engine import Engine
from kernelguard.cli.files import read_source, write_atomically
from kernelguard.cli.judge import Judged, NativeOptions, judge, judge_natively, native_request
from kernelguard.cli.terminal import printer
from kernelguard.native.messages import TimingMethod
from kernelguard.reporting.record import NativeFields, record_text
from kernelguard.terms.errors import HostError, ProblemError, UsageError
from kernelguard.terms.policy import Fp32Precision, Isolation, Limits, Mode, Policy, Precision, Rules
from kernelguard.terms.problem import Candidate, Problem

OFF_ONLY = ("verbose", "measure_performance", "timing_method", "build_dir_prefix", "clear_cache")
NO_EFFECT = ("gpu_arch", "check_kernel")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunAndCheck:
    """KernelBench's parameters with its defaults, then the hardened evaluation's."""

    ref_origin: Annotated[Literal["local", "kernelbench"], "where the reference is: a file, or a problem of the benchmark"]
    kernel_src_path: Annotated[str, "the file that defines ModelNew"]
    ref_arch_src_path: Annotated[str, "ref_origin=local: the file that defines Model, get_inputs and get_init_inputs"] = ""
    dataset_src: Annotated[str, "ref_origin=kernelbench: huggingface, local, or the path of a checkout"] = "huggingface"
    dataset_name: Annotated[str, "dataset_src=huggingface: which dataset"] = "ScalingIntelligence/KernelBench"
    level: Annotated[int | None, "ref_origin=kernelbench: the level"] = None
    problem_id: Annotated[int | None, "ref_origin=kernelbench: the number of the problem in its level"] = None
    eval_mode: Annotated[Literal["local", "modal"], "where to run: only local is there"] = "local"
    gpu: Annotated[str, "eval_mode=modal: the card; gpu_id chooses one of this host"] = "L40S"
    num_correct_trials: Annotated[int, "correctness trials; in audit and enforce probe calls"] = 5
    num_perf_trials: Annotated[int, "timed calls"] = 100
    timeout: Annotated[float, "seconds for one worker"] = 300.0
    verbose: Annotated[bool, "off: show what the evaluation's process prints"] = False
    measure_performance: Annotated[bool, "off: time it (audit and enforce always do)"] = True
    timing_method: Annotated[TimingMethod, "off: the clock"] = "cuda_event"
    build_dir_prefix: Annotated[str, "off: keep compiled extensions under here"] = ""
    clear_cache: Annotated[bool, "off: compile afresh, with build_dir_prefix"] = False
    gpu_arch: Annotated[tuple[str, ...], "accepted; extensions are built for the card that is there"] = ("Ada",)
    precision: Annotated[Precision, "what inputs and weights are cast to"] = Precision.FP32
    backend: Annotated[str, "what the candidate declares to be written in"] = "cuda"
    check_kernel: Annotated[bool, "accepted; the source is read in audit and enforce, by reward_hardening_policy"] = True
    reward_hardening_mode: Annotated[Mode, "off: KernelBench's own evaluation; audit: record; enforce: also refuse"] = Mode.OFF
    reward_hardening_policy: Annotated[Rules, "which source rules hold; behaviour reads no source"] = Rules.SOURCE_STRICT
    device: Annotated[Literal["cuda", "cpu"], "where the candidate runs"] = "cuda"
    gpu_id: Annotated[int, "which GPU of this host"] = 0
    fp32_precision: Annotated[Fp32Precision, "what an fp32 product may round to"] = Fp32Precision.IEEE
    build_timeout: Annotated[float, "seconds for a build"] = 600.0
    budget: Annotated[float, "seconds for all calls together"] = 120.0
    weights: Annotated[Literal["seeded", "transfer"], "by the same seed in the same order, or copied"] = "seeded"
    domain: Annotated[Literal["given", "any"], "any: values outside the problem's own range count too"] = "given"
    min_isolation: Annotated[Isolation, "the weakest confinement that may be verified"] = Isolation.PROCESS
    output: Annotated[str, "also write the record here"] = ""

    def to_policy(self) -> Policy:
        """The operator's choice. Raises UsageError for a value that no evaluation can run with."""
        return Policy(
            mode=self.reward_hardening_mode,
            rules=self.reward_hardening_policy,
            device=self.device,
            gpu=self.gpu_id,
            precision=self.precision,
            fp32_precision=self.fp32_precision,
            num_correct_trials=self.num_correct_trials,
            num_perf_trials=self.num_perf_trials,
            budget_s=self.budget,
            domain=self.domain,
            weights=self.weights,
            min_isolation=self.min_isolation,
            limits=Limits(timeout_s=self.timeout, build_timeout_s=self.build_timeout),
        )


def run_and_check(given: RunAndCheck, fetch: Callable[[RunAndCheck], Problem], engine: Engine) -> int:
    """Evaluate the pair and print KernelBench's result lines; in audit and enforce also the verdict and its record.

    `fetch` finds a problem of the benchmark. Exit code as `kernelguard check`.
    """
    _refuse_modal(given)
    policy = given.to_policy()
    problem = fetch(given) if given.ref_origin == "kernelbench" else _local_problem(given)
    candidate = Candidate(
        source=read_source(Path(given.kernel_src_path), "candidate"), name=given.kernel_src_path, backend=given.backend
    )
    for name in _ignored(given):
        print(f"[NOTE] {name} has no effect in {policy.mode.value}")
    if policy.mode is Mode.OFF:
        return _run_natively(given, problem, candidate, policy, engine)
    judged = judge(problem, candidate, policy, engine)
    printer().print(judged.words)
    _print_results(judged, "not measured in this mode")
    print(record_text(judged.record), end="")
    _keep(given, judged)
    return judged.exit_code


def _refuse_modal(given: RunAndCheck) -> None:
    if given.eval_mode == "local":
        return
    if given.reward_hardening_mode is Mode.OFF:
        raise UsageError("eval_mode=modal: no Modal runner is shipped; use eval_mode=local on a machine with the card")
    raise UsageError("eval_mode=modal: audit and enforce must own the host that they judge on; use eval_mode=local")


def _local_problem(given: RunAndCheck) -> Problem:
    if not given.ref_arch_src_path:
        raise UsageError("ref_arch_src_path=... is required with ref_origin=local")
    return Problem(source=read_source(Path(given.ref_arch_src_path), "reference"), name=given.ref_arch_src_path)


def _run_natively(given: RunAndCheck, problem: Problem, candidate: Candidate, policy: Policy, engine: Engine) -> int:
    print("[INFO] reward_hardening_mode=off: KernelBench's own evaluation, nothing is verified; audit and enforce verify")
    build_dir = Path(given.build_dir_prefix, "test_build", candidate.digest[-16:]) if given.build_dir_prefix else None
    if build_dir is not None and given.clear_cache:
        shutil.rmtree(build_dir, ignore_errors=True)
    options = NativeOptions(
        measure_performance=given.measure_performance,
        timing_method=given.timing_method,
        build_dir=None if build_dir is None else str(build_dir),
        verbose=given.verbose,
    )
    request = native_request(problem, candidate, policy, options)
    judged = judge_natively(request, policy.limits, engine)
    compiled_ms: float | str = "not measured"
    if given.measure_performance:
        try:
            compiled_ms = engine.time_compiled(request)
        except (ProblemError, HostError) as failure:
            print(f"[WARN] the reference can't be timed under torch.compile: {failure}")
    _print_results(judged, compiled_ms)
    _keep(given, judged)
    return judged.exit_code


def _ignored(given: RunAndCheck) -> list[str]:
    defaults = {field.name: field.default for field in fields(given)}
    names = NO_EFFECT if given.reward_hardening_mode is Mode.OFF else OFF_ONLY + NO_EFFECT
    return [name for name in names if getattr(given, name) != defaults[name]]


def _print_results(judged: Judged, compiled_ms: float | str) -> None:
    """Upstream's lines. The eager reference is the one that was timed in the same run."""
    native = judged.native
    print("=" * 40)
    print(f"[Eval] Kernel eval result: {NativeFields.model_validate(judged.record)}")
    print("-" * 40)
    print(f"[Timing] PyTorch Reference Eager exec time: {_ms(native.ref_runtime_ms)}")
    print(f"[Timing] PyTorch Reference torch.compile time: {_ms(compiled_ms)}")
    print(f"[Timing] Custom Kernel exec time: {_ms(native.runtime_ms)}")
    print("-" * 40)
    if not native.correctness:
        print("[Speedup] Speedup Not Available as Kernel did not pass correctness")
    elif native.runtime_ms > 0:
        print(f"[Speedup] Speedup over eager: {_ratio(native.ref_runtime_ms, native.runtime_ms)}")
        print(f"[Speedup] Speedup over torch.compile: {_ratio(compiled_ms, native.runtime_ms)}")
    print("=" * 40)


def _ms(time_ms: float | str) -> str:
    if isinstance(time_ms, str):
        return time_ms
    return f"{time_ms} ms" if time_ms > 0 else "not measured"


def _ratio(reference_ms: float | str, runtime_ms: float) -> str:
    return f"{reference_ms / runtime_ms:.2f}x" if isinstance(reference_ms, float) and reference_ms > 0 else "not measured"


def _keep(given: RunAndCheck, judged: Judged) -> None:
    if given.output:
        write_atomically(Path(given.output), record_text(judged.record))
