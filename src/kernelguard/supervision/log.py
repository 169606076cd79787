"""A worker's own output: read all the time so that it never blocks, kept up to a limit, stripped of control characters."""

import os
import re
import threading

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CHUNK = 1 << 16


class LogDrain:
    """Reads a pipe in a thread until it is closed on the other side."""

    def __init__(self, limit_bytes: int) -> None:
        self._read, self.write_end = os.pipe()
        self._limit = limit_bytes
        self._kept = bytearray()
        self._seen = 0
        self._thread = threading.Thread(target=self._drain, name="kernelguard-log", daemon=True)
        self._thread.start()

    @property
    def flooded(self) -> bool:
        """True when more came than the limit."""
        return self._seen > self._limit

    def close_write_end(self) -> None:
        """Ours is not needed once the worker has its own."""
        os.close(self.write_end)

    def text(self) -> str:
        """What was kept, printable. Waits shortly for the pipe's end."""
        self._thread.join(timeout=1.0)
        return _CONTROL.sub("", bytes(self._kept).decode("utf-8", "replace").replace("\r\n", "\n"))

    def _drain(self) -> None:
        while data := os.read(self._read, _CHUNK):
            self._seen += len(data)
            room = self._limit - len(self._kept)
            if room > 0:
                self._kept += data[:room]
        os.close(self._read)
