"""Run one native evaluation in a process of its own, so that a crash, a hang or an `os._exit` costs only that process.

This is unhardened: the process group is killed at the end, but a candidate that leaves the group is not followed.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from pydantic import ValidationError

import kernelguard
from kernelguard.native.messages import Fault, NativeReply, NativeRequest, NativeResult, Stage
from kernelguard.terms.errors import HostError, KernelGuardError, ProblemError, UsageError

KILL_TIMEOUT_S = 10.0
LOG_TAIL_BYTES = 4096
REPLY_TAIL_BYTES = 4 << 20
SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")

_FAULTS: dict[Fault, type[KernelGuardError]] = {"usage": UsageError, "problem": ProblemError, "host": HostError}
# Where the record tells of a process that died after this stage.
_DIED_AFTER: dict[Stage, str] = {
    "reference": "compilation_error",
    "compiled": "runtime_error",
    "checked": "error_during_performance",
    "timed": "error_during_reference_performance",
}


def run_native(request: NativeRequest, *, timeout_s: float) -> NativeResult:
    """Evaluate and return what is known at the end, be it a full result or what was known when the process died.

    A death is recorded in `metadata` where an exception at that point would be; a death by our deadline also as
    `error: Evaluation timed out`, as upstream's batch does. Raises UsageError, ProblemError or HostError when there is nothing to
    evaluate.
    """
    with tempfile.TemporaryDirectory(prefix="kernelbench-native-", ignore_cleanup_errors=True) as room:
        replies, log = Path(room, "replies"), Path(room, "log")
        ended = _run(request, Path(room), timeout_s)
        reply = _last_reply(replies)
        tail = _tail(log, LOG_TAIL_BYTES).strip()
    if reply is not None and reply.error is not None:
        raise _FAULTS[reply.error.fault](reply.error.message)
    if reply is None or reply.stage == "started":
        last_words = tail.splitlines()[-1] if tail else "no output"
        raise HostError(f"the native evaluation {ended} before the reference was ready: {last_words}")
    return reply.result if reply.stage == "complete" else _cut_short(reply, ended, tail)


def _run(request: NativeRequest, room: Path, timeout_s: float) -> str:
    """Run the process to its end or the deadline, kill its group, and say in words how it ended."""
    (room / "request").write_text(request.model_dump_json(), encoding="utf-8")
    log_path = room / "log"
    with (room / "request").open("rb") as stdin, (room / "replies").open("wb") as stdout, log_path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "kernelguard.native"],
            stdin=stdin,
            stdout=stdout,
            stderr=None if request.verbose else log,
            env=_environment(room),
            start_new_session=True,
        )
        try:
            return _words(process.wait(timeout=timeout_s))
        except subprocess.TimeoutExpired:
            return f"exceeded {timeout_s:g} s"
        finally:
            _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Nothing of the group outlives the call. Raises HostError if the process can't be killed in time."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # the whole group is gone already
    try:
        process.wait(timeout=KILL_TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise HostError(f"native evaluation: process {process.pid} can't be killed; the device may be hung") from error


def _environment(room: Path) -> dict[str, str]:
    """Ours, without what looks like a credential, with temporary files in `room` and this very package on the path."""
    kept = {name: value for name, value in os.environ.items() if not any(word in name.upper() for word in SECRET_WORDS)}
    package = str(Path(kernelguard.__file__).resolve().parents[1])
    paths = [package, *filter(None, kept.get("PYTHONPATH", "").split(os.pathsep))]
    return kept | {"PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(room)}


def _words(exit_code: int) -> str:
    if exit_code < 0:
        return f"was killed by signal {-exit_code} ({signal.strsignal(-exit_code)})"
    return f"ended with exit code {exit_code}"


def _last_reply(path: Path) -> NativeReply | None:
    """The last whole line that is a reply; None if there is none."""
    lines = reversed(_tail(path, REPLY_TAIL_BYTES).splitlines())
    return next((reply for reply in map(_reply, lines) if reply is not None), None)


def _reply(line: str) -> NativeReply | None:
    try:
        return NativeReply.model_validate_json(line)
    except ValidationError:
        return None  # a line that was cut off when the process died


def _tail(path: Path, limit: int) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - limit))
        return file.read(limit).decode("utf-8", "replace")


def _cut_short(reply: NativeReply, ended: str, tail: str) -> NativeResult:
    """What was known after the last stage, plus how the process ended."""
    result = reply.result
    key = _DIED_AFTER[reply.stage]
    result.metadata |= {key: f"the evaluation process {ended}", f"{key}_name": "ProcessEnded"}
    if tail:
        result.metadata["process_log"] = tail
    if ended.startswith("exceeded"):
        result.metadata["error"] = "Evaluation timed out"
    return result
