"""The doors: words on a command line to calls, verdicts to words and exit codes.

`kernelguard` is `main`; the scripts' key=value arguments are read by `keyvalue`. One file a command.
"""

import sys

from kernelguard.cli.app import run
from kernelguard.cli.engine import Engine
from kernelguard.cli.exit_codes import prepare_process

__all__ = ["main"]


def main() -> int:
    """The console script: do what `sys.argv` asks for and give the exit code."""
    prepare_process()
    return run(sys.argv[1:], Engine())
