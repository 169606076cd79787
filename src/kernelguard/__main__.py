"""`python -m kernelguard`: the same as the `kernelguard` command."""

import sys

from kernelguard.cli import main

if __name__ == "__main__":
    sys.exit(main())
