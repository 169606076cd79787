"""What goes into a native evaluation and what comes out of it. Times in milliseconds; -1.0 means "not measured", as upstream."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

TimingMethod = Literal["cuda_event", "host_time", "do_bench", "do_bench_impl"]
PrecisionName = Literal["fp32", "fp16", "bf16"]
Fault = Literal["usage", "problem", "host"]
Stage = Literal["started", "reference", "compiled", "checked", "timed", "complete"]


class NativeRequest(BaseModel):
    """One evaluation, with upstream's parameter names and defaults. One JSON object on stdin.

    `reference_src` defines `Model`, `get_inputs()` and `get_init_inputs()`; `candidate_src` defines `ModelNew`.
    `device` is `cuda`, `cuda:<n>` or `cpu` (there only `host_time` can time). `backend` is free text, as upstream: `triton`,
    `tilelang` and `cute` are imported as modules, everything else sees the names of the reference's module.
    `build_dir` keeps compiled extensions for the next run; without it they go to a temporary directory.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    reference_src: str
    candidate_src: str
    seed_num: int = Field(default=42, ge=0, lt=1 << 63)
    num_correct_trials: int = Field(default=1, ge=1)
    num_perf_trials: int = Field(default=10, ge=1)
    measure_performance: bool = False
    timing_method: TimingMethod = "cuda_event"
    verbose: bool = False
    build_dir: str | None = None
    device: str = "cuda:0"
    backend: str = "cuda"
    precision: PrecisionName = "fp32"
    check_for_excessive_speedup: bool = True
    excessive_speedup_threshold: float = Field(default=10.0, gt=0)


class NativeResult(BaseModel):
    """Upstream's result, field by field.

    `compiled`: the candidate's module was imported, which is when its extensions are built, and defined `ModelNew`.
    `correctness`: every trial agreed within the tolerance. `runtime` and `ref_runtime` are the `mean` of the statistics beside
    them (`mean`, `std`, `min`, `max` in ms to three significant digits, `num_trials`, `hardware`, `device`).
    `metadata` holds `hardware`, `device` and what went wrong: `compilation_error`, `runtime_error`, `correctness_issue` (each
    with `..._name`), `max_difference`, `avg_difference`, `correctness_trials`, `error_during_performance`,
    `error_during_reference_performance`, `excessive_speedup`.
    """

    compiled: bool = False
    correctness: bool = False
    metadata: dict[str, object] = Field(default_factory=dict)
    runtime: float = -1.0
    runtime_stats: dict[str, object] = Field(default_factory=dict)
    ref_runtime: float = -1.0
    ref_runtime_stats: dict[str, object] = Field(default_factory=dict)


class NativeError(BaseModel):
    """Why there is nothing to evaluate, in one line: a bad request, a reference that does not run, a host that can't."""

    fault: Fault
    message: str


class NativeReply(BaseModel):
    """One line of JSON on stdout: one after each stage, so that a crash loses nothing that was known before. The last counts.

    `stage` is what has been done: `started` (request read), `reference` (reference loaded and built), `compiled` (candidate
    loaded), `checked` (all correctness trials), `timed` (the candidate, if correct), `complete`.
    With `error` nothing was evaluated, through no fault of the candidate.
    """

    stage: Stage
    result: NativeResult
    error: NativeError | None = None
