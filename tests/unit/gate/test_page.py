"""The shared page: its size can't change, a bell rings once, and what is read from it is bounded."""

import os
import threading
import time
from collections.abc import Iterator

import pytest

from kernelguard.gate.page import AREA_BYTES, Command, DeadlinePassed, Page, WorkerGone, create_page, create_sealed
from kernelguard.terms.errors import WireError

DONE_LENGTH_WORD = 5  # the sixth 64-bit word of the page, which a worker may write as it likes


@pytest.fixture
def descriptor() -> Iterator[int]:
    """A page that two sides may map."""
    made = create_page()
    yield made
    os.close(made)


def soon(seconds: float = 10) -> int:
    """A deadline in monotonic ns."""
    return time.monotonic_ns() + int(seconds * 1e9)


@pytest.mark.parametrize("size", [0, 1, 1 << 30])
def test_the_size_of_shared_memory_can_not_be_changed(size: int) -> None:
    """Truncating a mapping would make the referee fault when it reads."""
    descriptor = create_sealed("test", 4096)

    with pytest.raises(PermissionError):
        os.ftruncate(descriptor, size)
    assert os.fstat(descriptor).st_size == 4096
    os.close(descriptor)


def test_calls_go_back_and_forth_between_two_mappings(descriptor: int) -> None:
    """GO carries what is asked and the seed, DONE what is claimed, in order, until the worker is sent back."""
    referee, asked = Page(descriptor, patient=True), []

    def work() -> None:
        worker, last = Page(descriptor, patient=True), 0
        while True:
            last, command = worker.wait_go(last)
            if command is Command.LEAVE:
                worker.done(last, b"")
                return
            asked.append((command, *worker.read_go()))
            worker.done(last, b"answer to " + worker.read_go()[0])

    thread = threading.Thread(target=work)
    thread.start()
    answers = []
    for number in range(5):
        referee.prepare(b"question %d" % number, seed=number << 40)
        referee.wait_done(referee.go(Command.CALL), soon(), lambda: True)
        answers.append(referee.take_done())
    referee.wait_done(referee.go(Command.LEAVE), soon(), lambda: True)
    thread.join(10)

    assert answers == [b"answer to question %d" % number for number in range(5)]
    assert asked == [(Command.CALL, b"question %d" % number, number << 40) for number in range(5)]
    assert not thread.is_alive()


@pytest.mark.parametrize("patient", [True, False])
def test_nobody_waits_beyond_the_deadline(descriptor: int, patient: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A worker that never answers costs its deadline and no more."""
    referee = Page(descriptor, patient=patient)
    started = time.monotonic()

    with pytest.raises(DeadlinePassed):
        referee.wait_done(referee.go(Command.CALL), soon(0.1), lambda: True)
    assert 0.09 < time.monotonic() - started < 5


def test_a_worker_that_died_is_not_waited_for(descriptor: int) -> None:
    """Its death is seen long before the deadline."""
    referee = Page(descriptor, patient=True)

    with pytest.raises(WorkerGone):
        referee.wait_done(referee.go(Command.CALL), soon(30), lambda: False)


@pytest.mark.parametrize("offset", [-1, 1, 1000])
def test_a_done_with_another_number_is_no_done(descriptor: int, offset: int) -> None:
    """An early or repeated DONE must not answer the next question."""
    referee, worker = Page(descriptor, patient=True), Page(descriptor, patient=True)
    sequence = referee.go(Command.CALL)
    worker.done(sequence + offset, b"early")

    with pytest.raises(DeadlinePassed):
        referee.wait_done(sequence, soon(0.05), lambda: True)


@pytest.mark.parametrize("length", [AREA_BYTES + 1, 1 << 32, (1 << 64) - 1])
def test_a_length_that_is_a_lie_is_refused(descriptor: int, length: int) -> None:
    """The worker writes the length; reading beyond its area would hand it our question."""
    referee = Page(descriptor)
    os.pwrite(descriptor, length.to_bytes(8, "little"), 8 * DONE_LENGTH_WORD)

    with pytest.raises(WireError, match="DONE"):
        referee.take_done()


def test_a_full_area_fits_and_one_byte_more_does_not(descriptor: int) -> None:
    """The border itself, on both sides."""
    page = Page(descriptor)
    page.prepare(b"q" * AREA_BYTES)
    page.done(1, b"d" * AREA_BYTES)

    assert page.read_go() == (b"q" * AREA_BYTES, 0)
    assert page.take_done() == b"d" * AREA_BYTES
    with pytest.raises(WireError, match="fit"):
        page.prepare(b"q" * (AREA_BYTES + 1))
    with pytest.raises(WireError, match="fit"):
        page.done(2, b"d" * (AREA_BYTES + 1))
