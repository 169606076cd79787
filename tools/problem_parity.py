"""Compare this package's problems with a checkout of upstream KernelBench, file by file, on the CPU.

    python tools/problem_parity.py /path/to/KernelBench --revision 423217d

The two files of a problem must agree in
  * the module-level constants and the signatures of `Model.__init__` and `Model.forward`;
  * at full size, on the meta device: the shapes and types of inputs, state and output;
  * at reduced size, from one seed: inputs and initial state bit for bit, outputs and final buffers in fp64 to TOLERANCE,
    on the problem's own inputs and on the same inputs spread over both signs.
Recorded beside that: whether state names and the operations that run are the same. A reduction sets the same constants in
both modules, to unlike numbers, so that a swapped axis shows. Upstream's 3/48 and 3/49 import einops.
Not covered: values at full size, and what a CUDA kernel computes.
"""

import argparse
import gc
import json
import math
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType

import torch
from problem_trace import SEED, constants, load, shapes, signature, trace

TOLERANCE = 1e-10
ROOT = Path(__file__).resolve().parent.parent
OURS = ROOT / "src" / "kernelbench" / "problems"

# Upper bounds by name of constant, and below what is set instead where they do not fit.
BOUNDS = {
    "batch_size": 3, "M": 12, "N": 20, "K": 28, "L": 36, "m": 6, "k": 7, "n": 8, "b": 2, "i": 4, "j": 5, "l": 9,
    "dim": 512, "dim1": 12, "dim2": 14, "dim3": 16, "depth": 10, "height": 22, "width": 26, "D": 12, "H": 14, "W": 16,
    "depth_in": 10, "height_in": 22, "width_in": 26, "length": 40, "input_length": 40, "sequence_length": 40, "seq_len": 40,
    "max_seqlen": 48, "in_features": 96, "out_features": 1024, "input_size": 96, "hidden_size": 1024, "output_size": 80,
}  # fmt: skip
SPECIAL: dict[str, dict[str, object]] = {
    **{f"1/{number}": {"batch_size": 3, "input_shape": (40,)} for number in (89, 90, 91, 92, 93, 94, 96, 98, 99)},
    "1/95": {"batch_size": 3, "num_classes": 40, "input_shape": (40,)},
    "1/100": {"batch_size": 40, "input_shape": (40,)},  # the targets lie along the last axis, so it is as long as the batch
    "2/3": {"batch_size": 3, "depth": 4, "height": 6},  # the layer norm fixes the width
    "2/34": {"batch_size": 3, "D": 4, "H": 6},
    "3/1": {"batch_size": 3, "input_size": 96, "layer_sizes": [72, 56], "output_size": 80},
    "3/2": {"batch_size": 3, "input_size": 96, "hidden_layer_sizes": [72, 56], "output_size": 80},
    "3/3": {"batch_size": 3, "input_size": 96, "hidden_layer_sizes": list(range(40, 72, 2)), "output_size": 80},
    **{f"3/{number}": {"batch_size": 1} for number in (5, 8, 11, 12, 21)},  # images of 224 x 224 by the file itself
    **{f"3/{number}": {"batch_size": 2, "height": 64, "width": 96} for number in (7, 10, 15, 16, 26)},  # halved 5 times
    **{f"3/{number}": {"batch_size": 2} for number in (19, 20, 22, 23, 29, 30)},
    "3/18": {"batch_size": 2, "height": 96, "width": 128},
    "3/27": {"batch_size": 2, "image_height": 48, "image_width": 64},
    "3/31": {"image_height": 10, "image_width": 12},
    "3/45": {"batch_size": 2, "height": 32, "width": 48},
}


@dataclass(kw_only=True)
class Row:
    """How one problem compares.

    `max_relative_difference` is over outputs and final buffers, relative to the largest value of upstream's tensor.
    `informative` is false where upstream's output is one constant on both inputs, so that equal values say little.
    Operations are named with the shapes of their tensors and counted over both calls.
    """

    level: int
    problem_id: int
    name: str
    status: str = "agree"
    max_relative_difference: float | None = None
    informative: bool = False
    same_state_names: bool = False
    operations_only_here: dict[str, int] = field(default_factory=dict)
    operations_only_upstream: dict[str, int] = field(default_factory=dict)
    full_size_shapes: str = "compared"
    reduced: dict[str, object] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)


def reductions(key: str, found: dict[str, object]) -> dict[str, object]:
    """Smaller values for the constants of problem `key`; a shape follows the feature count that it repeats."""
    if key in SPECIAL:
        return SPECIAL[key]
    small: dict[str, object] = {k: BOUNDS[k] for k, v in found.items() if k in BOUNDS and isinstance(v, int) and v > BOUNDS[k]}
    if "out_features" in small:
        features = found["out_features"]
        for name, value in found.items():
            if isinstance(value, tuple) and features in value:
                small[name] = tuple(small["out_features"] if length == features else length for length in value)
    return small


def relative_difference(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Largest difference over the largest finite magnitude of `theirs`; infinite where shape, type, NaN or infinity differ."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return math.inf
    if not theirs.is_floating_point():
        return 0.0 if torch.equal(ours, theirs) else math.inf
    finite = torch.isfinite(theirs)
    if not torch.equal(ours.isfinite(), finite) or not torch.allclose(ours[~finite], theirs[~finite], equal_nan=True):
        return math.inf
    if not finite.any():
        return 0.0
    scale = theirs[finite].abs().max().clamp_min(torch.finfo(theirs.dtype).tiny)
    return float((ours[finite] - theirs[finite]).abs().max() / scale)


def interface_differences(ours: ModuleType, theirs: ModuleType) -> Iterator[str]:
    """Constants, signatures and init inputs that are not the same."""
    pairs = {
        "constants": (list(constants(ours).items()), list(constants(theirs).items())),
        "parameters of __init__": (signature(ours.Model, "__init__"), signature(theirs.Model, "__init__")),
        "parameters of forward": (signature(ours.Model, "forward"), signature(theirs.Model, "forward")),
        "init inputs": (ours.get_init_inputs(), theirs.get_init_inputs()),
    }
    for what, (mine, upstream) in pairs.items():
        if repr(mine) != repr(upstream):
            yield f"{what}: {mine} here, {upstream} upstream"


def full_size(row: Row, ours: ModuleType, theirs: ModuleType) -> None:
    """Compare shapes at full size where upstream's file runs on the meta device."""
    try:
        expected = shapes(theirs)
    except (RuntimeError, NotImplementedError) as error:
        row.full_size_shapes = f"not compared, upstream does not run on the meta device: {str(error).splitlines()[0][:80]}"
        return
    if shapes(ours) != expected:
        row.differences.append(f"full-size shapes: {shapes(ours)} here, {expected} upstream")


def reduced_size(row: Row, ours: ModuleType, theirs: ModuleType) -> None:
    """Compare values at reduced size, one module after the other, so that only one model is alive."""
    row.reduced = reductions(f"{row.level}/{row.problem_id}", constants(theirs))
    traces = []
    for module in (ours, theirs):
        vars(module).update(row.reduced)
        traces.append(trace(module))
        gc.collect()
    mine, upstream = traces
    row.same_state_names = mine.names == upstream.names
    row.operations_only_here = dict(mine.operations - upstream.operations)
    row.operations_only_upstream = dict(upstream.operations - mine.operations)
    row.informative = torch.cat([output.flatten() for output in upstream.outputs[:2]]).unique().numel() > 1
    if mine.state != upstream.state:
        row.differences.append("initial state")
    if mine.inputs != upstream.inputs:
        row.differences.append(f"inputs: {mine.inputs} here, {upstream.inputs} upstream")
    if len(mine.outputs) != len(upstream.outputs):
        row.differences.append("number of buffers")
    worst = max(relative_difference(a, b) for a, b in zip(mine.outputs, upstream.outputs, strict=False))
    row.max_relative_difference = worst
    if not worst <= TOLERANCE:
        row.differences.append(f"outputs or final buffers, by {worst:.3g}")


def compare(level: int, ours: Path, theirs: Path) -> Row:
    """Compare one pair of files; a file that fails to load or run differs."""
    number = int(theirs.stem.split("_", 1)[0])
    row = Row(level=level, problem_id=number, name=theirs.stem)
    try:
        mine, upstream = load(ours, f"ours_{level}_{number}"), load(theirs, f"theirs_{level}_{number}")
        row.differences += interface_differences(mine, upstream)
        full_size(row, mine, upstream)
        reduced_size(row, mine, upstream)
    except (ImportError, OSError, SyntaxError, RuntimeError, TypeError, ValueError, AttributeError, IndexError) as error:
        row.differences.append(f"{type(error).__name__}: {error}")
    row.status = "differ" if row.differences else "agree"
    return row


def write_table(path: Path, rows: list[Row], revision: str) -> None:
    """Write the rows as JSON, one problem a line."""
    head = {
        "upstream": {"repository": "ScalingIntelligence/KernelBench", "revision": revision},
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "seed": SEED,
        "tolerance": TOLERANCE,
        "agree": sum(row.status == "agree" for row in rows),
        "differ": sum(row.status == "differ" for row in rows),
    }
    lines = ",\n".join("  " + json.dumps(asdict(row)) for row in rows)
    path.write_text(json.dumps(head, indent=1)[:-2] + f',\n "problems": [\n{lines}\n ]\n}}\n')


def main() -> int:
    """Compare, print a line for each problem, write the table; 0 where all agree, 1 otherwise."""
    parser = argparse.ArgumentParser(description="Compare the problems with a checkout of KernelBench.")
    parser.add_argument("checkout", type=Path, help="directory that holds KernelBench/level1 to level3")
    parser.add_argument("--revision", default="unknown", help="what to record as the checkout's commit")
    parser.add_argument("--only", nargs="*", default=[], metavar="LEVEL/ID", help="compare these problems")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results" / "problem_parity.json")
    options = parser.parse_args()
    if not (options.checkout / "KernelBench").is_dir():
        parser.error(f"{options.checkout} holds no directory KernelBench: give the path of a checkout")
    torch.set_num_threads(1)
    rows = []
    for level in (1, 2, 3):
        files = (options.checkout / "KernelBench" / f"level{level}").glob("*.py")
        for theirs in sorted(files, key=lambda path: int(path.stem.split("_", 1)[0])):
            if options.only and f"{level}/{theirs.stem.split('_', 1)[0]}" not in options.only:
                continue
            rows.append(compare(level, OURS / f"level{level}" / theirs.name, theirs))
            print(level, theirs.stem, rows[-1].status, rows[-1].max_relative_difference, *rows[-1].differences, flush=True)
    write_table(options.out, rows, options.revision)
    return 0 if rows and all(row.status == "agree" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
