"""One warm host in a temp folder of its own."""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from ending_bench import QUICK, Bench

from kernelguard.supervision.host import Host
from kernelguard.terms.policy import Limits, Policy


@pytest.fixture(scope="session")
def temp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A temp folder for this process alone, so that nobody else's files and leases are in it."""
    folder = tmp_path_factory.mktemp("temp")
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    yield folder
    tempfile.tempdir = before


@pytest.fixture(scope="session")
def bench(temp: Path) -> Iterator[Bench]:
    """The host that all these candidates meet, one after another."""
    with Host(device="cpu") as host:
        host.warm()
        yield Bench(host, temp)


@pytest.fixture
def patient() -> Policy:
    """For a candidate that is to be met in the middle of a call."""
    return replace(QUICK, limits=Limits(timeout_s=60.0, first_call_timeout_s=60.0, call_timeout_s=60.0))
