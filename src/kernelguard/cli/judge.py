"""One pair judged for the command line: a record to keep, words to read, a code to exit with. Every door goes through here."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType

from kernelguard.cli.engine import Engine
from kernelguard.cli.exit_codes import ExitCode, code_for
from kernelguard.cli.files import write_atomically
from kernelguard.cli.terminal import errors, printer
from kernelguard.native.messages import NativeRequest, TimingMethod
from kernelguard.reporting.json_values import Json
from kernelguard.reporting.record import native_record, record_text, to_record
from kernelguard.reporting.text import render, render_native
from kernelguard.terms.policy import Limits, Policy
from kernelguard.terms.problem import Candidate, Problem
from kernelguard.terms.verdict import Native


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """What one evaluation left for the one who asked."""

    record: Json
    words: RenderableType
    native: Native
    exit_code: ExitCode


@dataclass(frozen=True, kw_only=True, slots=True)
class NativeOptions:
    """What only upstream's evaluation has a choice about (mode `off`)."""

    measure_performance: bool = True
    timing_method: TimingMethod = "cuda_event"
    build_dir: str | None = None
    verbose: bool = False


def judge(problem: Problem, candidate: Candidate, policy: Policy, engine: Engine) -> Judged:
    """Evaluate under `audit` or `enforce`. Raises what `evaluate` raises, which is never the candidate's doing."""
    with errors().status(f"Judging {candidate.name}"), engine.evaluator(policy.device, policy.gpu) as evaluate:
        verdict = evaluate(problem, candidate, policy)
    return Judged(
        record=to_record(verdict, policy),
        words=render(verdict, policy),
        native=verdict.native,
        exit_code=code_for(policy.mode, verdict.integrity),
    )


def native_request(problem: Problem, candidate: Candidate, policy: Policy, options: NativeOptions) -> NativeRequest:
    """The same evaluation in upstream's words. On the CPU there are no device events, so that the host's clock times it."""
    on_cpu = policy.device == "cpu"
    return NativeRequest(
        reference_src=problem.source,
        candidate_src=candidate.source,
        num_correct_trials=policy.num_correct_trials,
        num_perf_trials=policy.num_perf_trials,
        measure_performance=options.measure_performance,
        timing_method="host_time" if on_cpu else options.timing_method,
        verbose=options.verbose,
        build_dir=options.build_dir,
        device="cpu" if on_cpu else f"cuda:{policy.gpu}",
        backend=candidate.backend,
        precision=policy.precision.value,
    )


def judge_natively(request: NativeRequest, limits: Limits, engine: Engine) -> Judged:
    """Evaluate as KernelBench does (mode `off`): nothing is verified, and a result is a success whatever it says."""
    with errors().status("Evaluating natively"):
        result = engine.run_native(request, limits.timeout_s + limits.build_timeout_s)
    native = Native(
        compiled=result.compiled,
        correctness=result.correctness,
        metadata=result.metadata,
        runtime_ms=result.runtime,
        runtime_stats=result.runtime_stats,
        ref_runtime_ms=result.ref_runtime,
        ref_runtime_stats=result.ref_runtime_stats,
    )
    return Judged(record=native_record(native), words=render_native(native), native=native, exit_code=ExitCode.VERIFIED)


def publish(judged: Judged, *, as_json: bool, output: Path | None) -> None:
    """Print the words, or with `as_json` the record and nothing else; write the record to `output` where one is named."""
    text = record_text(judged.record)
    if output is not None:
        write_atomically(output, text)
    if as_json:
        print(text, end="")
    else:
        printer().print(judged.words)
