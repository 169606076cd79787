"""Length-prefixed JSON frames over a socket pair: bounded in size and depth, typed on arrival, every wait with a deadline."""

import json
import select
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast  # noqa: TID251 - see _adapter

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from kernelguard.terms.errors import WireError

M = TypeVar("M")
HEADER = struct.Struct("<I")
MAX_FDS = 250  # one for every lent slot; the kernel takes 253 at once
MAX_DEPTH = 64
_LONGEST_WAIT_S = 3600.0
MAX_FRAME_BYTES = 64 << 20  # between trusted processes; a worker's frames have the policy's own limit


class PeerGone(WireError):
    """The other end closed the channel: its process ended, or it wants us to believe so."""


class Late(WireError):
    """No whole frame arrived before the deadline."""


class TooLong(WireError):
    """The frame announces, or holds, more bytes than the limit."""


@lru_cache(maxsize=256)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode(message: object) -> bytes:
    """A message as JSON bytes: `{"type": <class name>, "body": {...}}`. Text that is no Unicode goes with question marks."""
    adapter = _adapter(cast("Any", type(message)))
    try:
        body = adapter.dump_json(message)
    except PydanticSerializationError:
        body = json.dumps(_in_unicode(adapter.dump_python(message)), default=lambda member: member.value).encode("ascii")
    return b'{"type":"' + type(message).__name__.encode("ascii") + b'","body":' + body + b"}"


def _in_unicode(value: object) -> object:
    """The same value without half surrogate pairs, which a program's own error text may hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_in_unicode(key): _in_unicode(part) for key, part in value.items()}
    return [_in_unicode(part) for part in value] if isinstance(value, (list, tuple)) else value


def decode(data: bytes, expected: Sequence[type[M]]) -> M:
    """The message in `data`, which must be one of the `expected` classes. Anything else raises WireError."""
    _check_depth(data)
    try:
        envelope = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a frame is not JSON: {str(error)[:120]}") from error
    if not (isinstance(envelope, dict) and set(envelope) == {"type", "body"}):
        raise WireError("a frame is not a message envelope")
    for kind in expected:
        if kind.__name__ == envelope["type"]:
            return _typed(kind, envelope["body"])
    raise WireError(f"unexpected message {str(envelope['type'])[:40]!r}")


def _typed(kind: type[M], body: object) -> M:
    try:
        return cast("M", _adapter(cast("Any", kind)).validate_json(json.dumps(body), strict=True))
    except (ValidationError, ValueError) as error:
        raise WireError(f"message {kind.__name__} does not have its form: {str(error)[:300]}") from error


def _check_depth(data: bytes) -> None:
    """Refuse nesting that a parser would recurse into. Brackets inside strings count too, which only makes it stricter."""
    opened = data.count(b"[") + data.count(b"{")
    if opened <= MAX_DEPTH:
        return
    depth = deepest = 0
    in_string = escaped = False
    for byte in data:
        if in_string:
            in_string = escaped or byte != 0x22
            escaped = not escaped and byte == 0x5C
        elif byte == 0x22:
            in_string = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    if deepest > MAX_DEPTH:
        raise WireError("a frame is nested too deeply")


class Channel:
    """One end of a conversation. `limit_bytes` bounds what is read from the peer."""

    def __init__(self, peer: socket.socket, *, limit_bytes: int = MAX_FRAME_BYTES) -> None:
        self._socket = peer
        self._limit = limit_bytes
        peer.setblocking(False)  # noqa: FBT003 - the library's own signature

    @classmethod
    def from_fd(cls, descriptor: int) -> "Channel":
        """The trusted peer's end, from a descriptor that was inherited."""
        return cls(socket.socket(fileno=descriptor))

    def fileno(self) -> int:
        """The descriptor, for select and poll."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close this end; the peer then reads PeerGone."""
        self._socket.close()

    def send(self, message: object, *, fds: Sequence[int] = (), timeout_s: float = 30.0) -> None:
        """Send one message and descriptors beside it. Raises PeerGone or Late."""
        body = encode(message)
        data = memoryview(HEADER.pack(len(body)) + body)
        deadline = time.monotonic() + timeout_s
        while data:
            try:
                sent = socket.send_fds(self._socket, [data], list(fds)) if fds else self._socket.send(data)
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
                continue
            except OSError as error:
                raise PeerGone(f"the peer closed the channel ({error.strerror})") from error
            data, fds = data[sent:], ()

    def receive(self, *expected: type[M], timeout_s: float) -> M:
        """The next message, one of `expected`. Raises Late, PeerGone, TooLong or WireError."""
        message, fds = self.receive_with_fds(*expected, timeout_s=timeout_s)
        if fds:
            close_all(fds)
            raise WireError("descriptors arrived that nobody asked for")
        return message

    def receive_with_fds(self, *expected: type[M], timeout_s: float) -> tuple[M, list[int]]:
        """The next message and the descriptors that came with it, which the caller owns."""
        deadline = time.monotonic() + timeout_s
        fds: list[int] = []
        try:
            (length,) = HEADER.unpack(self._exactly(HEADER.size, deadline, fds))
            if length > self._limit:
                raise TooLong(f"a frame of {length} bytes; the limit is {self._limit}")
            return decode(self._exactly(length, deadline, fds), expected), fds
        except WireError:
            close_all(fds)
            raise

    def _exactly(self, size: int, deadline: float, fds: list[int]) -> bytes:
        chunks = bytearray()
        while len(chunks) < size:
            try:
                data, new, _, _ = socket.recv_fds(self._socket, min(size - len(chunks), 1 << 20), MAX_FDS)
            except BlockingIOError:
                self._wait(select.POLLIN, deadline)
                continue
            except OSError as error:
                raise PeerGone(f"the peer closed the channel ({error.strerror})") from error
            fds.extend(new)
            if len(fds) > MAX_FDS:
                raise WireError("too many descriptors")
            if not data:
                raise PeerGone("the peer closed the channel")
            chunks += data
        return bytes(chunks)

    def _wait(self, event: int, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Late("no whole frame before the deadline")
        poller = select.poll()
        poller.register(self._socket, event)
        poller.poll(min(left, _LONGEST_WAIT_S) * 1000 + 1)


def close_all(fds: Sequence[int]) -> None:
    """Close descriptors that were received and are not wanted."""
    for descriptor in fds:
        socket.close(descriptor)


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends; neither is inherited by a started program unless it is passed on purpose."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
