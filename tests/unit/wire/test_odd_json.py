"""JSON that parsers disagree about, and text that JSON can't hold: it has one meaning here, or none."""

import json
import math
from collections.abc import Callable

import pytest

from kernelguard.terms.errors import WireError
from kernelguard.terms.evidence import LoadFailure
from kernelguard.wire.framing import decode, encode
from kernelguard.wire.gate_messages import Done
from kernelguard.wire.messages import Built, EnterGate, LoadFailed
from kernelguard.wire.tree import pack, unpack

DONE = '{{"type":"Done","body":{{"structures":[],"outputs":[],"claimed_event_ms":{},"claimed_host_ms":1.0}}}}'


def no_tensor(_: object) -> int | None:
    """Nothing is a tensor."""
    return None


def test_a_repeated_key_means_its_last_value_and_nothing_else() -> None:
    """What is checked and what is used must be the same copy: no first value may come back."""
    twice = decode(b'{"type":"Built","body":{"import_s":1.0,"import_s":2.0}}', (Built, EnterGate))
    other = decode(b'{"type":"Built","body":{},"type":"EnterGate"}', (Built, EnterGate))

    assert (twice, other) == (Built(import_s=2.0), EnterGate())
    with pytest.raises(WireError):
        decode(b'{"type":"Built","body":{"import_s":1.0,"import_s":"x"}}', (Built,))


@pytest.mark.parametrize("claim", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400])
def test_a_claim_beyond_all_numbers_arrives_as_what_it_is_or_not_at_all(claim: str) -> None:
    """The referee looks for finite claims; an exception here would be its own death."""
    try:
        message = decode(DONE.format(claim).encode(), (Done,))
    except WireError:
        return
    assert not math.isfinite(message.claimed_event_ms)


@pytest.mark.parametrize("claim", ["null", '"1.0"', "true", "[1.0]", "{}"])
def test_a_claim_that_is_no_number_is_refused(claim: str) -> None:
    """No conversion: a string that looks like a time is none."""
    with pytest.raises(WireError):
        decode(DONE.format(claim).encode(), (Done,))


@pytest.mark.parametrize("text", [b'"\\ud800"', b'"\\udfff\\ud800"'])
def test_half_a_surrogate_pair_is_refused(text: bytes) -> None:
    """It could not be written into a record later."""
    with pytest.raises(WireError):
        decode(b'{"type":"LoadFailed","body":{"failure":{"stage":"i","error":' + text + b',"text":""}}}', (LoadFailed,))


@pytest.mark.parametrize("order", [("type", "body"), ("body", "type")])
def test_the_order_of_an_envelopes_keys_means_nothing(order: tuple[str, str]) -> None:
    """JSON objects have none."""
    parts = {"type": "Built", "body": {"import_s": 0.5}}

    assert decode(json.dumps({key: parts[key] for key in order}).encode(), (Built,)) == Built(import_s=0.5)


def test_an_error_text_with_half_a_surrogate_can_be_sent() -> None:
    """Raising a ValueError of a lone surrogate is one line of a candidate, and its failure has a stage and a name."""
    failure = LoadFailure(stage="import", error="ValueError: \ud800", text="")

    assert decode(encode(LoadFailed(failure=failure)), (LoadFailed,)).failure.stage == "import"


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", '{"l":[NaN]}', "1e999", '{"l":[],"l":[1]}', '{"d":[["a",1],["a",2]]}']
)  # fmt: skip
def test_text_with_a_second_way_to_write_a_value_is_refused(text: str) -> None:
    """`unpack` promises WireError for anything that `pack` can't have written."""
    with pytest.raises(WireError):
        unpack(text, [])


def test_an_integer_too_long_to_write_is_a_wire_error() -> None:
    """`pack` promises WireError for whatever can't cross."""
    with pytest.raises(WireError):
        pack(10**5000, no_tensor)


@pytest.mark.parametrize("wrap", [lambda part: [part], lambda part: (part,), lambda part: {"k": part}])
def test_depth_is_the_same_border_on_both_ways(wrap: Callable[[object], object]) -> None:
    """What one side may write the other side must be able to read."""
    value: object = None
    for depth in range(40):
        try:
            text = pack(value, no_tensor)
        except WireError:
            assert depth > 10
            return
        assert unpack(text, []) == value
        value = wrap(value)
    pytest.fail("no depth was refused")
