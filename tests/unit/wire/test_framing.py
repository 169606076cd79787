"""The byte boundary: what is sent arrives, and whatever a liar sends ends in WireError, quickly and in bounded memory."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelguard.terms.errors import WireError
from kernelguard.terms.evidence import LoadFailure, Side, WorkerState
from kernelguard.wire.framing import HEADER, MAX_DEPTH, MAX_FDS, Channel, Late, PeerGone, TooLong, decode, encode, pair
from kernelguard.wire.gate_messages import Done, InputSpec, OutputSpec
from kernelguard.wire.messages import Built, EnterGate, Finish, Load, Loaded, LoadFailed
from kernelguard.wire.referee_messages import Attach

LIMIT = 4096
FUZZ = settings(max_examples=300, deadline=None, database=None)
STATE = WorkerState(moment="end", flags={"a": "b"}, environment={}, functions={"f": "1"}, python_threads=("x",))
MESSAGES = (
    EnterGate(),
    Built(import_s=1.5),
    Attach(side=Side.CANDIDATE, pid=77),
    Loaded(states=(STATE, STATE), import_s=0.25, construct_s=0.5),
    LoadFailed(failure=LoadFailure(stage="import", error="E: é\ud7ff", text="\n\t\x00")),
    Load(
        path="p.py", entry="ModelNew", init_args="[]", weight_seed=2**63 - 1, dtype="float32",
        init_tensors=(InputSpec(slot=0, dtype="float32", shape=(2, 3), strides=(3, 1)),),
    ),
    Done(
        structures=('{"t":0}',), claimed_event_ms=-1.0, claimed_host_ms=0.5,
        outputs=((OutputSpec(segment="", offset=4096, dtype="bool", shape=(), strides=(), device="cpu", aliases=("a",)),),),
    ),
)  # fmt: skip


@pytest.fixture
def ends() -> Iterator[tuple[Channel, socket.socket]]:
    """Our end as a channel, the peer's as a raw socket that may say anything."""
    ours, theirs = pair()
    channel = Channel(ours, limit_bytes=LIMIT)
    yield channel, theirs
    channel.close()
    theirs.close()


def frame(body: bytes) -> bytes:
    """A body with an honest length before it."""
    return HEADER.pack(len(body)) + body


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_arrives_as_it_was_sent(message: object) -> None:
    """Types, tuples, enums and integers above 2**53 survive the JSON between."""
    assert decode(encode(message), (type(message),)) == message


def test_messages_keep_their_order_and_descriptors_come_beside_them() -> None:
    """A page that arrives with the wrong message would be mapped as somebody else's."""
    ours, theirs = map(Channel, pair())
    read_end, write_end = os.pipe()
    ours.send(Attach(side=Side.REFERENCE, pid=1), fds=[read_end, write_end])
    ours.send(EnterGate())
    os.close(read_end)

    message, (got_read, got_write) = theirs.receive_with_fds(Attach, timeout_s=5)
    os.write(got_write, b"through")

    assert message == Attach(side=Side.REFERENCE, pid=1)
    assert os.read(got_read, 100) == b"through"
    assert theirs.receive(EnterGate, Finish, timeout_s=5) == EnterGate()
    for descriptor in (write_end, got_read, got_write):
        os.close(descriptor)
    ours.close()
    theirs.close()


def test_a_frame_larger_than_the_sockets_buffer_arrives_whole() -> None:
    """Partial sends and receives are the normal case for large messages."""
    ours, theirs = map(Channel, pair())
    text = "x" * (3 << 20)
    sender = threading.Thread(target=ours.send, args=(LoadFailed(failure=LoadFailure(stage="s", error="e", text=text)),))
    sender.start()

    assert theirs.receive(LoadFailed, timeout_s=20).failure.text == text
    sender.join(5)
    ours.close()
    theirs.close()


def test_descriptors_that_nobody_asked_for_are_closed_and_refused(ends: tuple[Channel, socket.socket]) -> None:
    """A hostile peer must not fill our descriptor table."""
    channel, peer = ends
    read_end, write_end = os.pipe()
    socket.send_fds(peer, [frame(encode(EnterGate()))], [write_end])
    os.close(write_end)

    with pytest.raises(WireError, match="descriptors"):
        channel.receive(EnterGate, timeout_s=5)
    assert os.read(read_end, 1) == b""  # the only writer left was the copy that we were sent
    os.close(read_end)


def test_descriptors_beside_a_broken_frame_are_closed(ends: tuple[Channel, socket.socket]) -> None:
    """The error path must not leak what the good path hands over."""
    channel, peer = ends
    read_end, write_end = os.pipe()
    socket.send_fds(peer, [frame(b"no json")], [write_end])
    os.close(write_end)

    with pytest.raises(WireError):
        channel.receive_with_fds(EnterGate, timeout_s=5)
    assert os.read(read_end, 1) == b""
    os.close(read_end)


@pytest.mark.parametrize(
    ("start", "error"),
    [
        (HEADER.pack(100), Late),
        (HEADER.pack(LIMIT + 1), TooLong),
        (HEADER.pack(100)[:2], Late),
    ],
)
def test_descriptors_beside_a_frame_that_never_gets_whole_are_closed(
    ends: tuple[Channel, socket.socket], start: bytes, error: type[WireError]
) -> None:
    """Refusing the length and running out of time are error paths too; a leak there fills our descriptor table."""
    channel, peer = ends
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    socket.send_fds(peer, [start], [write_end])
    os.close(write_end)

    with pytest.raises(error):
        channel.receive_with_fds(EnterGate, timeout_s=0.05)
    try:
        assert os.read(read_end, 1) == b""
    finally:
        os.close(read_end)


def test_a_torn_frame_is_a_peer_that_is_gone(ends: tuple[Channel, socket.socket]) -> None:
    """A process that dies in the middle of a message must not hang us."""
    channel, peer = ends
    peer.sendall(frame(encode(EnterGate()))[:-3])
    peer.close()

    with pytest.raises(PeerGone):
        channel.receive(EnterGate, timeout_s=5)


def test_a_silent_and_a_dripping_peer_are_late(ends: tuple[Channel, socket.socket]) -> None:
    """Single bytes must not extend the deadline."""
    channel, peer = ends
    stop = threading.Event()

    def drip() -> None:
        with suppress(OSError):  # the test is over and the socket closed
            for byte in frame(b" " * 1000):
                peer.send(bytes([byte]))
                if stop.wait(0.02):
                    return

    dripping = threading.Thread(target=drip)
    dripping.start()
    started = time.monotonic()
    with pytest.raises(Late):
        channel.receive(EnterGate, timeout_s=0.2)
    taken = time.monotonic() - started
    stop.set()
    dripping.join(5)

    assert 0.15 < taken < 3


def test_a_full_pipe_is_late_when_nobody_reads() -> None:
    """A peer that stops reading must not block the supervisor for ever."""
    ours, theirs = pair()
    channel = Channel(ours)

    with pytest.raises(Late):
        channel.send(LoadFailed(failure=LoadFailure(stage="s", error="e", text="x" * (8 << 20))), timeout_s=0.1)
    channel.close()
    theirs.close()


def test_sending_to_a_closed_peer_is_peer_gone(ends: tuple[Channel, socket.socket]) -> None:
    """No BrokenPipeError escapes, and no signal ends the process."""
    channel, peer = ends
    peer.close()

    with pytest.raises(PeerGone):
        channel.send(EnterGate())


@pytest.mark.parametrize("length", [LIMIT + 1, 2**31, 2**32 - 1])
def test_an_announced_length_above_the_limit_is_refused_before_anything_is_read(
    ends: tuple[Channel, socket.socket], length: int
) -> None:
    """Four bytes must not make us allocate four gigabytes."""
    channel, peer = ends
    peer.sendall(HEADER.pack(length))

    with pytest.raises(TooLong):
        channel.receive(EnterGate, timeout_s=5)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'{"type":"EnterGate"}',
        b'{"type":"EnterGate","body":{},"more":1}',
        b'{"type":["EnterGate"],"body":{}}',
        b'{"type":"Verdict","body":{}}',
        b'{"type":"Built","body":{}}',
        b'{"type":"Built","body":{"import_s":"1.5"}}',
        b'{"type":"Built","body":{"import_s":true}}',
        b'{"type":"Built","body":null}',
        b"\xff\xfe{}",
        b'{"type":"Built","body":{"import_s":' + b"9" * 5000 + b"}}",
    ],
)
def test_what_is_not_one_of_the_expected_messages_is_refused(body: bytes) -> None:
    """Typed or refused, with nothing between."""
    with pytest.raises(WireError):
        decode(body, (EnterGate, Built))


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"type":"EnterGate","body":['])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_deep_nesting_is_refused_without_recursion(opening: bytes, depth: int) -> None:
    """A parser that recurses into a hundred thousand brackets ends the process."""
    with pytest.raises(WireError):
        decode(opening * depth, (EnterGate,))


def test_brackets_inside_text_are_no_nesting() -> None:
    """A traceback full of brackets and escaped quotes is an honest message."""
    message = LoadFailed(failure=LoadFailure(stage="import", error='\\"' + "[{" * 500, text='"' * 99 + "\\" + "[" * 500))

    assert decode(encode(message), (LoadFailed,)) == message


@pytest.mark.parametrize("fields", [{"verdict": "PASS"}, {"import_s": 1.0, "score": 100}])
def test_extra_fields_never_arrive(fields: dict[str, object]) -> None:
    """Nothing that was not asked for crosses, whether it is refused or dropped."""
    body = json.dumps({"type": "Built", "body": {"import_s": 2.0, **fields}}).encode()

    try:
        message = decode(body, (Built,))
    except WireError:
        return
    assert not any(hasattr(message, name) for name in ("verdict", "score"))


@FUZZ
@given(st.binary(max_size=300))
def test_any_bytes_as_a_body_give_a_wire_error_or_a_message(body: bytes) -> None:
    """No other exception may leave the boundary."""
    with suppress(WireError):
        decode(body, (EnterGate, Built, Done))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@FUZZ
@given(st.sampled_from(("Done", "Loaded", "LoadFailed", "Built", "Finish")), JSON)
def test_any_json_as_a_message_gives_a_wire_error_or_a_message(name: str, body: object) -> None:
    """Well-formed envelopes with wrong insides, NaN and huge integers among them."""
    kinds = (Done, Loaded, LoadFailed, Built, Finish)

    with suppress(WireError):
        assert type(decode(json.dumps({"type": name, "body": body}).encode(), kinds)).__name__ == name


@FUZZ
@given(st.integers(0, len(MESSAGES) - 1), st.data())
def test_a_message_with_flipped_bytes_gives_a_wire_error_or_a_message(number: int, data: st.DataObject) -> None:
    """Mutations of good messages come closer to the code than noise does."""
    body = bytearray(encode(MESSAGES[number]))
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))

    with suppress(WireError):
        decode(bytes(body), tuple(type(message) for message in MESSAGES))


@settings(max_examples=100, deadline=None, database=None)
@given(st.binary(max_size=600))
def test_any_bytes_on_the_socket_end_in_a_wire_error(noise: bytes) -> None:
    """A peer that writes noise and leaves is PeerGone, TooLong or WireError, never a hang."""
    ours, theirs = pair()
    channel = Channel(ours, limit_bytes=LIMIT)
    theirs.sendall(noise)
    theirs.close()

    try:
        with pytest.raises(WireError):
            channel.receive(EnterGate, timeout_s=5)
    finally:
        channel.close()


def test_the_number_of_descriptors_at_once_covers_all_slots() -> None:
    """The kernel takes 253 in one message; asking for more would fail on every receive."""
    ours, theirs = map(Channel, pair())
    descriptor = os.open("/dev/null", os.O_RDONLY)
    ours.send(EnterGate(), fds=[descriptor] * MAX_FDS)
    os.close(descriptor)

    _, got = theirs.receive_with_fds(EnterGate, timeout_s=5)

    assert len(got) == MAX_FDS
    for received in got:
        os.close(received)
    ours.close()
    theirs.close()
