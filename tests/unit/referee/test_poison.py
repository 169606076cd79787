"""What released memory is filled with must be no answer: recycled storage then holds nothing that is right."""

import pytest
import torch

from kernelguard.referee.compare import Tolerance, compare
from kernelguard.referee.reading import poison_value
from kernelguard.terms.policy import Precision

CALLS = range(30)


def is_far(answer: torch.Tensor, call: int, margin: float) -> bool:
    """Whether the poison, as it is stored, is wrong at every element by more than `margin` tolerances."""
    poison = torch.full_like(answer, poison_value(answer, call))
    if not answer.is_floating_point():
        return bool((poison != answer).all())
    tolerance = Tolerance.of(Precision.FP32 if answer.dtype in (torch.float32, torch.float64) else Precision.FP16).native
    difference = (poison.double() - answer.double()).abs()
    return bool((difference > margin * (tolerance + tolerance * answer.double().abs())).all()) and bool(poison.isfinite().all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 100.0, 5000.0])
def test_poison_is_ten_tolerances_from_every_element(dtype: torch.dtype, scale: float) -> None:
    """A kernel that skips elements of recycled memory must leave something wrong there."""
    for call in CALLS:
        torch.manual_seed(call)

        assert is_far((torch.randn(200) * scale).to(dtype), call, 10)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
def test_integer_poison_is_no_value_of_the_answer(dtype: torch.dtype) -> None:
    """Another valid value, that is: indices stay indices and are wrong."""
    for call in CALLS:
        torch.manual_seed(call)

        assert is_far(torch.randint(0, 100, (200,), dtype=dtype), call, 0)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(torch.tensor([40_000.0, 32_752.0, -32_752.0], dtype=torch.float16), id="large fp16"),
        pytest.param(torch.tensor([255, 0], dtype=torch.uint8), id="bytes"),
        pytest.param(torch.tensor([127, -128], dtype=torch.int8), id="int8"),
    ],
)
def test_poison_is_far_at_the_ends_of_a_type_too(answer: torch.Tensor) -> None:
    """Quantised outputs use their whole range."""
    assert all(is_far(answer, call, 10) for call in CALLS)


def test_boolean_poison_is_wrong_for_most_elements() -> None:
    """There is no third value; the rarer one spoils the larger part."""
    answer = torch.tensor([True, True, False, True])

    assert poison_value(answer, 1) == 0.0
    assert poison_value(~answer, 1) == 1.0


def test_poison_varies_from_call_to_call() -> None:
    """A constant would be recognised and replaced."""
    assert len({poison_value(torch.ones(4), call) for call in CALLS}) > 10


def test_an_answer_with_infinities_and_nan_has_a_finite_poison() -> None:
    """Masks must not spoil the poison."""
    answer = torch.tensor([torch.inf, -torch.inf, torch.nan, 2.0])

    assert abs(poison_value(answer, 3)) < 10


def test_poisoned_memory_is_judged_wrong_in_every_element() -> None:
    """The comparison and the poison have to agree on what wrong is."""
    answer = torch.randn(8, 40)

    seen = compare([answer], [torch.full_like(answer, poison_value(answer, 5))], Tolerance.of(Precision.FP32), [])

    assert seen.bad_elements == answer.numel()
