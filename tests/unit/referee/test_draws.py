"""Inputs: repeatable from their seed, probes inside the promised range, derived structure kept."""

import pytest
import torch

from kernelguard.referee.draws import draw, edit
from kernelguard.terms.plan import PROBE_KINDS, DrawKind

VARIANTS = range(8)


def tensors(get_inputs: object, kind: DrawKind, seed: int = 5, variant: int = 0) -> list[torch.Tensor]:
    """One set of inputs on the CPU."""
    assert callable(get_inputs)
    drawn = draw(get_inputs, seed=seed, device="cpu", kind=kind, variant=variant)
    return [item for item in drawn if isinstance(item, torch.Tensor)]


def uniform() -> list[object]:
    """What nearly all of the benchmark's problems draw."""
    return [torch.rand(40, 64), torch.rand(300), torch.rand(2, 3, 64), torch.rand(()), 7]


@pytest.mark.parametrize("kind", list(DrawKind))
def test_the_same_seed_gives_the_same_values_and_another_seed_others(kind: DrawKind) -> None:
    """Reference and candidate are asked the same, a revealed plan can be repeated, and seeds are no decoration."""
    first, again, other = tensors(uniform, kind), tensors(uniform, kind), tensors(uniform, kind, seed=6)

    assert all(torch.equal(one, two) for one, two in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])


@pytest.mark.parametrize("kind", [DrawKind.PLAIN, DrawKind.CANARY, DrawKind.SPARSE, DrawKind.SHAPE])
@pytest.mark.parametrize("variant", VARIANTS)
def test_probes_stay_inside_the_range_that_the_problem_draws_from(kind: DrawKind, variant: int) -> None:
    """A kernel may rely on the problem's domain; only wide draws leave it."""
    for seed in range(5):
        for drawn in tensors(uniform, kind, seed, variant):
            assert bool(((drawn >= 0) & (drawn < 1)).all())
            assert drawn.dtype is torch.float32


@pytest.mark.parametrize("variant", range(4))
def test_wide_draws_leave_the_range(variant: int) -> None:
    """Otherwise they would find no specialisation."""
    drawn = tensors(uniform, DrawKind.WIDE, variant=variant)[0]

    assert not bool(((drawn >= 0) & (drawn < 1)).all())


@pytest.mark.parametrize("kind", PROBE_KINDS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_triangle_survives_every_probe(kind: DrawKind, variant: int) -> None:
    """Altering draws and not tensors keeps what get_inputs makes of them."""

    def triangle() -> list[object]:
        return [torch.triu(torch.rand(32, 32)), torch.rand(4, 32).softmax(dim=-1), torch.randint(0, 5, (8,))]

    upper, probabilities, targets = tensors(triangle, kind, variant=variant)

    assert torch.equal(upper, torch.triu(upper))
    assert torch.allclose(probabilities.sum(dim=-1), torch.ones(4))
    assert bool(((targets >= 0) & (targets < 5)).all())


@pytest.mark.parametrize("variant", VARIANTS)
def test_sparse_rows_keep_one_to_eight_numbers_beside_plain_rows(variant: int) -> None:
    """Sparse rows separate precisions; the plain rows around them hide that this is a probe."""
    (drawn,) = tensors(lambda: [torch.rand(400, 64)], DrawKind.SPARSE, variant=variant)
    nonzeros = (drawn != 0).sum(dim=1)
    sparse = nonzeros[nonzeros <= 8]

    assert 40 < len(sparse) < 200
    assert bool((nonzeros[nonzeros > 8] > 56).all())
    assert int(sparse.min()) >= 1


def test_sparse_places_cover_every_column_over_a_plan() -> None:
    """A column that is never looked at alone is a place to be sloppy."""
    seen = torch.zeros(64, dtype=torch.bool)
    for seed in range(20):
        (drawn,) = tensors(lambda: [torch.rand(400, 64)], DrawKind.SPARSE, seed)
        rows = drawn[(drawn != 0).sum(dim=1) <= 8]
        seen |= (rows != 0).any(dim=0)

    assert bool(seen.all())


def test_shapes_differ_from_a_plain_draw_and_from_each_other() -> None:
    """Against a statistical shortcut the mean, the order or the tail has to change."""
    plain = tensors(uniform, DrawKind.PLAIN)[0]
    shapes = [tensors(uniform, DrawKind.SHAPE, variant=variant)[0] for variant in range(4)]

    assert not any(torch.equal(shape, plain) for shape in shapes)
    assert shapes[0].mean() < 0.3
    assert torch.equal(shapes[1], plain.sort(dim=-1).values)
    assert bool((shapes[2] == shapes[2][..., :1]).all())
    assert shapes[3].median() < 0.05


def test_an_edit_changes_single_elements_in_place_and_stays_in_the_values_at_hand() -> None:
    """A cache that samples its input must be able to miss it, and a kernel may rely on the range."""
    for seed in range(50):
        floats, integers, scalar = torch.rand(1000), torch.arange(10), torch.rand(())
        before = [floats.clone(), integers.clone(), scalar.clone()]
        edit([floats, integers, scalar], seed=seed)

        assert int((floats != before[0]).sum()) == 1
        assert bool(((floats >= 0) & (floats < 1)).all())
        assert torch.equal(integers, before[1])
        assert torch.equal(scalar, before[2])


def test_host_draws_and_other_devices_follow_the_device_mode() -> None:
    """Inputs are made where the problem would make them, without the problem saying so."""
    (drawn,) = draw(lambda: [torch.rand(4)], seed=1, device="meta", kind=DrawKind.PLAIN, variant=0)

    assert isinstance(drawn, torch.Tensor)
    assert drawn.device.type == "meta"
