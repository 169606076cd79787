"""Measure the trusted core on this machine's GPU and write what was seen as JSON.

    python bench/trusted_core.py --output bench/results/trusted_core.json [--sections honest null forged] [--null-runs 20]

honest: claimed, witness and triton.testing.do_bench times of Triton kernels. null: the reference as its own candidate.
forged: candidates that halve their event times or escape the events; each must lose its time or its verdict.
Every section is written as soon as it is done, so an interrupted run keeps what it had.
"""

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"), str(Path(__file__).resolve().parent)]

from kernels.reference import PROBLEMS  # noqa: E402 - found through the path set above

from kernelguard.evaluation.candidate import evaluate  # noqa: E402
from kernelguard.supervision.host import Host  # noqa: E402
from kernelguard.terms.policy import Policy, Rules  # noqa: E402
from kernelguard.terms.problem import Candidate, Problem  # noqa: E402
from kernelguard.terms.verdict import Verdict  # noqa: E402

KERNELS = Path(__file__).resolve().parent / "kernels"
HONEST = {
    "relu_10us": "relu",
    "relu_100us": "relu",
    "softmax_100us": "softmax",
    "layernorm_100us": "layernorm",
    "matmul_3ms": "matmul",
}
NULL = ("relu_10us", "relu_100us", "matmul_3ms")
FORGERIES = {
    "half_everywhere": """
import sys, torch, torch.nn as nn
clock = sys.modules["kernelguard.worker.invoke"].EventClock
honest = clock.stop
def half(self):
    event_ms, host_ms = honest(self)
    return event_ms / 2, host_ms - event_ms / 2
clock.stop = half
class ModelNew(nn.Module):
    def forward(self, *xs):
        return BODY
""",
    "early_done": """
import sys, torch, torch.nn as nn
clock = sys.modules["kernelguard.worker.invoke"].EventClock
clock.stop = lambda self: (0.004, 0.2)
class ModelNew(nn.Module):
    def forward(self, *xs):
        return BODY
""",
    "half_of_single_calls": """
import sys, torch, torch.nn as nn
clock = sys.modules["kernelguard.worker.invoke"].EventClock
honest = clock.stop
calls = []
def half(self):
    event_ms, host_ms = honest(self)
    single = len(calls) == 1
    calls.clear()
    return (event_ms / 2, host_ms - event_ms / 2) if single else (event_ms, host_ms)
clock.stop = half
class ModelNew(nn.Module):
    def forward(self, *xs):
        calls.append(1)
        return BODY
""",
    "side_stream": """
import torch, torch.nn as nn
class ModelNew(nn.Module):
    def forward(self, *xs):
        with torch.cuda.stream(torch.cuda.Stream()):
            return BODY
""",
}
BODIES = {"relu_10us": "torch.relu(xs[0])", "relu_100us": "torch.relu(xs[0])", "matmul_3ms": "xs[0] @ xs[1]"}


def main() -> int:
    """Run the sections that were asked for; 0 when all could be measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--sections", nargs="*", default=["honest", "null", "forged"])
    parser.add_argument("--null-runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop starting new measurements after this long")
    given = parser.parse_args()
    deadline = time.monotonic() + given.seconds
    found: dict[str, object] = {}
    with Host(device="cuda", gpu=0) as host:
        host.warm()
        card = host.card
        found["machine"] = {"card": card.name if card else None, "driver": card.driver if card else None, **host.versions}
        for section in given.sections:
            rows = list(_rows(section, host, given.null_runs, deadline))
            found[section] = rows
            _write(given.output, found)
    return 0


def _rows(section: str, host: Host, null_runs: int, deadline: float):
    work = {"honest": _honest, "null": lambda: _null(null_runs), "forged": _forged}[section]()
    for name, source, extra in work:
        if time.monotonic() > deadline:
            return
        yield {**_measure(host, name, source), **extra()}


def _honest():
    for name, kernel in HONEST.items():
        source = (KERNELS / f"{kernel}.py").read_text()
        yield name, source, lambda name=name, source=source: {"do_bench_ms": _do_bench(name, source)}


def _null(runs: int):
    for _ in range(runs):
        for name in NULL:
            yield name, PROBLEMS[name].replace("class Model(", "class ModelNew("), dict


def _forged():
    for name, body in BODIES.items():
        for forgery, text in FORGERIES.items():
            yield name, text.replace("BODY", body), lambda forgery=forgery: {"forgery": forgery}


def _measure(host: Host, name: str, source: str) -> dict[str, object]:
    started = time.monotonic()
    problem, candidate = Problem(source=PROBLEMS[name], name=name), Candidate(source=source, name=name, backend="triton")
    verdict = evaluate(problem, candidate, Policy(rules=Rules.BEHAVIOUR), host)
    row = {"name": name, "seconds": round(time.monotonic() - started, 2), **_numbers(verdict)}
    print(json.dumps({key: row[key] for key in ("name", "status", "codes", "verified_ms", "bound_ms", "speedup")}), flush=True)
    return row


def _numbers(verdict: Verdict) -> dict[str, object]:
    clocks = verdict.extended.get("clocks") or {}
    return {
        "status": verdict.integrity.value,
        "codes": list(verdict.codes),
        "findings": [f"{f.code} {f.detector}: {f.summary}" for f in verdict.findings],
        "verified_ms": verdict.verified_runtime_ms,
        "claimed_ms": clocks.get("claimed_event_ms"),
        "host_ms": clocks.get("claimed_host_ms"),
        "witness_ms": clocks.get("witness_ms"),
        "gap_us": clocks.get("gap_us"),
        "gap_se_us": clocks.get("gap_se_us"),
        "bound_ms": clocks.get("timing_bound_ms"),
        "speedup": verdict.extended.get("speedup"),
        "stages_s": verdict.extended.get("stages_s"),
    }


def _do_bench(name: str, source: str) -> float:
    """Median of triton.testing.do_bench for the same kernel and shapes, in ms, in this process."""
    import torch  # noqa: PLC0415 - only here does this process touch the device
    from triton.testing import do_bench  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("bench_kernel", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        scope: dict[str, Callable[[], list[torch.Tensor]]] = {}
        exec(PROBLEMS[name], scope)  # noqa: S102 - our own text
        with torch.device("cuda"):
            inputs = scope["get_inputs"]()
        model = module.ModelNew()
        result = float(do_bench(lambda: model(*inputs), return_mode="median"))
    torch.cuda.empty_cache()
    return result


def _write(path: Path, value: object) -> None:
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(value, indent=1) + "\n")
    temporary.replace(path)


if __name__ == "__main__":
    sys.exit(main())
