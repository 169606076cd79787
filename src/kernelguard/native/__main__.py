"""`python -m kernelguard.native`: a NativeRequest on stdin, NativeReply lines on stdout, the last of which counts.

Exit code 0 for a correct candidate, 1 for any other, 2 for a request that can't be read, 3 if there is nothing to evaluate.
"""

import contextlib
import faulthandler
import os
import sys
from typing import TextIO

from pydantic import ValidationError

from kernelguard.native.messages import Fault, NativeError, NativeReply, NativeRequest, NativeResult, Stage
from kernelguard.terms.errors import HostError, ProblemError, UsageError


def main() -> int:
    """Answer one request."""
    replies = _take_stdout()
    faulthandler.enable()

    def report(stage: Stage, result: NativeResult) -> None:
        _write(replies, NativeReply(stage=stage, result=result))

    def refuse(fault: Fault, message: str) -> int:
        error = NativeError(fault=fault, message=" ".join(message.split()))
        _write(replies, NativeReply(stage="started", result=NativeResult(), error=error))
        return 2 if fault == "usage" else 3

    try:
        request = NativeRequest.model_validate_json(sys.stdin.buffer.read())
        report("started", NativeResult())
        from kernelguard.native.evaluation import evaluate_request  # noqa: PLC0415 - a bad request needs no torch

        return 0 if evaluate_request(request, report).correctness else 1
    except ValidationError as error:
        return refuse("usage", _first_complaint(error))
    except UsageError as error:
        return refuse("usage", str(error))
    except ProblemError as error:
        return refuse("problem", str(error))
    except HostError as error:
        return refuse("host", str(error))


def _write(replies: TextIO, reply: NativeReply) -> None:
    replies.write(reply.model_dump_json() + "\n")
    replies.flush()


def _take_stdout() -> TextIO:
    """Keep stdout for replies alone: what a candidate prints goes to stderr."""
    sys.stdout.flush()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return replies


def _first_complaint(error: ValidationError) -> str:
    """The first thing wrong with a request, in one line, without the sources in it."""
    first = error.errors(include_input=False, include_url=False)[0]
    return f"request: {'.'.join(map(str, first['loc'])) or 'JSON'}: {first['msg']}"


if __name__ == "__main__":
    code = main()
    with contextlib.suppress(OSError, ValueError):  # a candidate may have closed them; the reply is already out
        sys.stderr.flush()
    os._exit(code)  # threads and exit handlers that a candidate left behind are not waited for
