"""Build a candidate's extensions ahead of its evaluation, on the CPU, in a process of its own."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD_TIMEOUT_S = 600.0


def build_compile_cache_with_capturing(
    custom_model_src: str,
    verbose: bool = False,  # noqa: FBT001, FBT002 - upstream's signature
    build_dir: str | os.PathLike[str] | None = None,
) -> tuple[int, str, str]:
    """Import the candidate with its extensions built into `build_dir`; exit code (124 after 600 s), stdout and stderr.

    The same `build_dir` given to `eval_kernel_against_ref` finds them there. `set_gpu_arch` must have named the architecture.
    """
    with tempfile.TemporaryDirectory(prefix="kernelbench-build-") as room:
        program = Path(room, "candidate.py")
        program.write_text(custom_model_src, encoding="utf-8")
        where = os.fspath(build_dir) if build_dir is not None else room
        Path(where).mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"TORCH_EXTENSIONS_DIR": str(Path(where).absolute())}
        try:
            done = subprocess.run(
                [sys.executable, str(program)],
                check=False,
                capture_output=True,
                text=True,
                errors="replace",
                env=environment,
                timeout=BUILD_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            return 124, "", f"the build exceeded {BUILD_TIMEOUT_S:g} s"
    if verbose:
        sys.stderr.write(f"[CPU Precompile] exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.returncode, done.stdout, done.stderr


def build_compile_cache(
    custom_model_src: str,
    verbose: bool = False,  # noqa: FBT001, FBT002 - upstream's signature
    build_dir: str | os.PathLike[str] | None = None,
) -> tuple[bool, str, str | None]:
    """The same as success, stdout, and the error text if there is one."""
    exit_code, stdout, stderr = build_compile_cache_with_capturing(custom_model_src, verbose, build_dir)
    return exit_code == 0, stdout, None if exit_code == 0 else stderr
