"""`kernelguard check`: one reference, one candidate, one verdict."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kernelguard.cli.engine import Engine
from kernelguard.cli.files import read_source
from kernelguard.cli.judge import NativeOptions, judge, judge_natively, native_request, publish
from kernelguard.cli.signature import takes
from kernelguard.terms.policy import Fp32Precision, Isolation, Limits, Mode, Policy, Precision, Rules
from kernelguard.terms.problem import Candidate, Problem

_USUAL = Policy()  # its defaults are the command's


def _option(words: str) -> object:
    return typer.Option(help=words)


def _plan(words: str) -> object:
    return typer.Option(help=words, rich_help_panel="Plan")


def _limit(words: str) -> object:
    return typer.Option(help=words, rich_help_panel="Limits")


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckOptions:
    """What the command line of `check` holds."""

    reference: Annotated[Path, typer.Argument(metavar="REF", help="File with Model, get_inputs and get_init_inputs.")]
    candidate: Annotated[Path, typer.Argument(metavar="CAND", help="File with ModelNew.")]
    mode: Annotated[Mode, _option("off: KernelBench's own evaluation; audit: record; enforce: also refuse.")] = _USUAL.mode
    policy: Annotated[Rules, _option("Which source rules hold; behaviour reads no source.")] = _USUAL.rules
    backend: Annotated[str, _option("What the candidate declares to be written in: cuda, triton, cpp, ...")] = "cuda"
    device: Annotated[str, _option("cuda or cpu.")] = _USUAL.device
    gpu: Annotated[int, _option("Which GPU of this host.")] = _USUAL.gpu
    precision: Annotated[Precision, _option("What inputs and weights are cast to.")] = _USUAL.precision
    fp32_precision: Annotated[Fp32Precision, _option("What an fp32 product may round to.")] = _USUAL.fp32_precision
    num_correct_trials: Annotated[int, _plan("Probe calls.")] = _USUAL.num_correct_trials
    num_perf_trials: Annotated[int, _plan("Plain calls, which give the runtime.")] = _USUAL.num_perf_trials
    weights: Annotated[str, _plan("seeded: by the same seed in the same order; transfer: copied.")] = _USUAL.weights
    domain: Annotated[str, _plan("any: values outside the problem's own range count too; given: they don't.")] = _USUAL.domain
    timeout: Annotated[float, _limit("Seconds for one worker.")] = _USUAL.limits.timeout_s
    build_timeout: Annotated[float, _limit("Seconds for a build.")] = _USUAL.limits.build_timeout_s
    budget: Annotated[float, _limit("Seconds for all calls together.")] = _USUAL.budget_s
    min_isolation: Annotated[Isolation, _limit("The weakest confinement that may be verified.")] = _USUAL.min_isolation
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON and nothing else.")] = False
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the record here, whole or not at all.")] = None

    def to_policy(self) -> Policy:
        """The operator's choice. Raises UsageError for a value that no evaluation can run with."""
        return Policy(
            mode=self.mode,
            rules=self.policy,
            device=self.device,
            gpu=self.gpu,
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


@takes(CheckOptions)
def check(engine: Engine, options: CheckOptions) -> int:
    """Judge one candidate: is it right, and how fast is it really?

    Exit code: 0 verified, 1 rejected, 2 bad usage or input, 3 could not be judged here; in audit and off 0 with any record.
    """
    policy = options.to_policy()
    problem = Problem(source=read_source(options.reference, "reference"), name=str(options.reference))
    candidate = Candidate(
        source=read_source(options.candidate, "candidate"), name=str(options.candidate), backend=options.backend
    )
    if policy.mode is Mode.OFF:
        judged = judge_natively(native_request(problem, candidate, policy, NativeOptions()), policy.limits, engine)
    else:
        judged = judge(problem, candidate, policy, engine)
    publish(judged, as_json=options.as_json, output=options.output)
    return judged.exit_code
