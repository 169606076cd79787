"""Start a trusted process: a fresh isolated interpreter with one socket to us and an environment without secrets."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelguard.terms.errors import HostError
from kernelguard.wire.framing import Channel, pair

_BOOT = (
    "import importlib, json, sys; sys.path[:0] = json.loads(sys.argv[3]); "
    "importlib.import_module(sys.argv[1]).main(int(sys.argv[2]))"
)
_PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES", "TMPDIR", "HOME", "CC", "CXX", "OPENBLAS_CORETYPE", "NCCL_NVLS_ENABLE",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Trusted:
    """A trusted process of ours and the channel to it."""

    process: subprocess.Popen[bytes]
    channel: Channel
    log: Path

    def end(self, timeout_s: float) -> None:
        """Close the channel, which ends it; kill what does not go."""
        self.channel.close()
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def last_words(self) -> str:
        """The end of what it wrote to stderr, for our own error message."""
        try:
            return self.log.read_text(errors="replace")[-600:].strip()
        except OSError:
            return ""


def start(module: str, *, log: Path, extra_environment: Mapping[str, str]) -> Trusted:
    """Run `module.main(descriptor)` in a fresh interpreter of its own session. Raises HostError if it can't be started."""
    ours, theirs = pair()
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1", **extra_environment}
    command = [sys.executable, "-I", "-c", _BOOT, module, str(theirs.fileno()), json.dumps(_import_path())]
    try:
        with log.open("wb") as sink:
            process = subprocess.Popen(
                command, pass_fds=(theirs.fileno(),), env=environment, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
                start_new_session=True, cwd="/",
            )  # fmt: skip
    except OSError as error:
        ours.close()
        raise HostError(f"can't start {module}: {error}") from error
    finally:
        theirs.close()
    return Trusted(process, Channel(ours), log)


def _import_path() -> Sequence[str]:
    """Where this interpreter finds its modules, without the current directory."""
    return [str(Path(entry).absolute()) for entry in sys.path if entry and Path(entry).exists()]
