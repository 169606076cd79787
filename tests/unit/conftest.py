"""Lets the unit tests import the factories that stand beside this file."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
