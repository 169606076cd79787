"""What forward returned is described without a copy, and whatever is odd about it is said."""

import pytest
import torch

from kernelguard.gate.host_memory import HostBorrower
from kernelguard.gate.memory import MAX_OUTPUTS
from kernelguard.terms.errors import WireError
from kernelguard.worker.describe import Owned, Returned, describe, slot_ranges, weight_ranges


class Lazy(torch.Tensor):
    """A subclass could compute when it is looked at."""


def attributed() -> torch.Tensor:
    """A plain tensor with something on its instance."""
    tensor = torch.ones(4)
    tensor.data_ptr = lambda: 0  # type: ignore[method-assign]  # the attack
    return tensor


@pytest.mark.parametrize("tensor", [torch.ones(2, 3), torch.ones(3, 2).T, torch.tensor(1.5), torch.ones(4).bool()])
def test_a_plain_tensor_has_its_place_and_no_oddities(tensor: torch.Tensor) -> None:
    """The honest neighbour of everything below; any strides are described, not copied."""
    spec = describe(tensor, HostBorrower(), [])

    assert (spec.oddities, spec.aliases) == ((), ())
    assert spec.offset == tensor.data_ptr()
    assert (spec.shape, spec.strides) == (tuple(tensor.shape), tensor.stride())
    assert spec.dtype == str(tensor.dtype).removeprefix("torch.")


@pytest.mark.parametrize(
    ("tensor", "word"),
    [
        (torch.ones(4).as_subclass(Lazy), "type Lazy"),
        (attributed(), "instance attributes"),
        (torch.ones(4).to_sparse(), "layout"),
        (torch.ones(4, requires_grad=True), "requires grad"),
        (torch.ones(4, dtype=torch.complex64).conj(), "neg or conj"),
        (torch.ones(4, dtype=torch.complex64).conj().imag, "neg or conj"),
    ],
)
def test_what_is_no_plain_tensor_says_so(tensor: torch.Tensor, word: str) -> None:
    """Bytes alone would not be the answer of such a tensor."""
    spec = describe(tensor, HostBorrower(), [])

    assert any(word in oddity for oddity in spec.oddities)
    assert spec.offset == 0


def test_memory_of_weights_and_inputs_is_named() -> None:
    """A view of an input costs nothing and changes with it."""
    layer, slot = torch.nn.Linear(4, 4), torch.zeros(64, dtype=torch.uint8)
    owned: list[Owned] = [*weight_ranges(layer), *slot_ranges([slot])]

    weight = describe(layer.weight.detach()[2:], HostBorrower(), owned)
    lent = describe(slot[8:24].view(torch.float32), HostBorrower(), owned)

    assert weight.aliases == ("weight:weight",)
    assert (lent.aliases, lent.segment, lent.offset) == (("slot:0",), "slot:0", 8)
    assert describe(torch.ones(4), HostBorrower(), owned).aliases == ()


def test_an_empty_view_of_an_input_aliases_nothing() -> None:
    """No bytes, nothing shared."""
    slot = torch.zeros(64, dtype=torch.uint8)

    assert describe(slot[8:8], HostBorrower(), slot_ranges([slot])).aliases == ()


def test_nested_returns_keep_their_structure_and_order() -> None:
    """Tuples, lists and dicts of tensors are honest answers."""
    first, second = torch.ones(1), torch.ones(2)

    returned = Returned((first, {"state": [second, None]}))

    assert returned.tensors[0] is first
    assert returned.tensors[1] is second
    assert returned.structure != Returned([first, {"state": [second, None]}]).structure


def test_too_many_outputs_and_foreign_types_are_refused() -> None:
    """The page has room for so many, and what is no value can't cross."""
    with pytest.raises(WireError, match="output tensors"):
        Returned([torch.ones(1)] * (MAX_OUTPUTS + 1))
    with pytest.raises(WireError, match="generator"):
        Returned(number for number in range(3))


def test_a_model_without_weights_owns_nothing() -> None:
    """A candidate need not be a module at all."""
    assert weight_ranges(object()) == []
