r"""Evaluate one candidate against one reference, with KernelBench's key=value arguments.

    python scripts/run_and_check.py ref_origin=local ref_arch_src_path=reference.py kernel_src_path=candidate.py \
        reward_hardening_mode=enforce

    python scripts/run_and_check.py ref_origin=kernelbench dataset_src=local level=1 problem_id=19 kernel_src_path=candidate.py

`--help` lists all arguments. Exit code: 0 verified (in off and audit: a result was recorded), 1 rejected, 2 bad usage or input,
3 could not be judged on this host.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # this checkout's code, installed or not

from kernelguard.cli.engine import Engine
from kernelguard.cli.keyvalue import run_script
from kernelguard.cli.run_and_check import RunAndCheck, run_and_check
from kernelguard.terms.errors import UsageError
from kernelguard.terms.problem import Problem

WORDS = "run_and_check: evaluate one candidate against one reference"


def fetch_problem(given: RunAndCheck) -> Problem:
    """The problem of the benchmark that was asked for. Raises UsageError if it is not there."""
    from kernelbench.dataset import construct_kernelbench_dataset  # noqa: PLC0415 - a local reference needs no benchmark

    if given.level is None or given.problem_id is None:
        raise UsageError("level=... and problem_id=... are required with ref_origin=kernelbench")
    try:
        dataset = construct_kernelbench_dataset(given.level, source=given.dataset_src, dataset_name=given.dataset_name)
        problem = dataset.get_problem_by_id(given.problem_id)
    except (ValueError, OSError) as missing:
        raise UsageError(f"level={given.level} problem_id={given.problem_id}: {missing}") from None
    return Problem(source=problem.code, name=problem.name, level=problem.level, problem_id=problem.problem_id)


def main(arguments: list[str]) -> int:
    """Do what the arguments say and give the exit code."""
    return run_script(RunAndCheck, WORDS, arguments, lambda given: run_and_check(given, fetch_problem, Engine()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
