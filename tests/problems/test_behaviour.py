"""What some problems compute, at reduced size and in fp64, against a second way of saying it."""

from collections.abc import Callable
from types import ModuleType

import pytest
import torch

LoadProblem = Callable[..., ModuleType]


def build(module: ModuleType) -> torch.nn.Module:
    """The problem's model in fp64, from a fixed seed, in training mode as the benchmark runs it."""
    torch.manual_seed(7)
    model: torch.nn.Module = module.Model(*module.get_init_inputs())
    return model.double()


def draw(module: ModuleType) -> list[torch.Tensor]:
    """The problem's inputs from a fixed seed, floats in fp64."""
    torch.manual_seed(8)
    return [x.double() if x.is_floating_point() else x for x in module.get_inputs()]


def test_the_diagonal_product_scales_rows(load_problem: LoadProblem) -> None:
    """1/12 avoids the matrix of zeros; scaling columns instead would be as cheap, of the same shape, and wrong."""
    module = load_problem("1/12", M=5, N=5)
    diagonal, matrix = draw(module)

    assert torch.allclose(build(module)(diagonal, matrix), torch.diag(diagonal) @ matrix)


def test_the_exclusive_sum_starts_at_zero_and_leaves_the_last_element_out(load_problem: LoadProblem) -> None:
    """1/92 was wrong in an early version of the benchmark, where it changed the shape."""
    module = load_problem("1/92", batch_size=3, input_shape=(6,))
    (x,) = draw(module)

    assert torch.allclose(build(module)(x), torch.cumsum(x, dim=1) - x)


def test_the_reverse_sum_counts_from_the_end(load_problem: LoadProblem) -> None:
    """1/91 equals the total less what comes before."""
    module = load_problem("1/91", batch_size=3, input_shape=(6,))
    (x,) = draw(module)

    assert torch.allclose(build(module)(x), x.sum(dim=1, keepdim=True) - torch.cumsum(x, dim=1) + x)


def test_hinge_targets_are_signs(load_problem: LoadProblem) -> None:
    """1/100 with targets of 0 and 1 would be another loss, and a smaller range for a wrong kernel to fail in."""
    module = load_problem("1/100", batch_size=40, input_shape=(40,))

    assert set(draw(module)[1].tolist()) == {-1.0, 1.0}


def test_the_grouped_3d_transposed_convolution_has_one_group(load_problem: LoadProblem) -> None:
    """1/73 is named for groups that the benchmark's positional arguments never set; a kernel with four would be wrong."""
    module = load_problem("1/73", batch_size=1, depth=4, height=5, width=6)
    (x,) = draw(module)
    model = build(module)
    expected = torch.nn.functional.conv_transpose3d(x, next(model.parameters()), stride=2, padding=1)

    assert torch.allclose(model(x), expected)


def test_dropout_follows_the_random_state(load_problem: LoadProblem) -> None:
    """2/66 runs in training mode; without a seed per call an honest candidate could not be compared with it."""
    module = load_problem("2/66", batch_size=2, in_features=8, out_features=64)
    (x,) = draw(module)
    model = build(module)
    torch.manual_seed(1)
    first = model(x)
    other = model(x)
    torch.manual_seed(1)

    assert torch.equal(model(x), first)
    assert not torch.equal(other, first)


def test_batch_norm_uses_the_batch_and_keeps_its_statistics(load_problem: LoadProblem) -> None:
    """The benchmark never calls `eval()`: 2/41 normalises by the batch at hand and moves its running mean."""
    module = load_problem("2/41", batch_size=6, in_features=5, out_features=4)
    (x,) = draw(module)
    model = build(module)
    rows = model.gemm(x)
    expected = torch.nn.functional.gelu((rows - rows.mean(0)) / torch.sqrt(rows.var(0, unbiased=False) + 1e-5)).relu()

    assert torch.allclose(model(x), expected)
    assert torch.allclose(model.batch_norm.running_mean, 0.1 * rows.mean(0))


def test_the_recurrent_network_goes_on_from_its_hidden_state(load_problem: LoadProblem) -> None:
    """3/33 keeps state between calls, so reference and candidate must see the same calls."""
    module = load_problem("3/33", batch_size=2, input_size=3, hidden_size=4, output_size=5)
    x, hidden = draw(module)
    model = build(module)
    first = model(x, hidden)
    second = model(x)

    assert not torch.allclose(first, second)
    assert torch.equal(model(x, hidden), first)


def test_the_unused_state_of_a_gru_moves_the_random_state(load_problem: LoadProblem) -> None:
    """3/41 draws a tensor that it never reads; whatever is drawn after the model depends on it."""
    sizes = {"batch_size": 2, "input_size": 3, "hidden_size": 4, "num_layers": 2}
    build(load_problem("3/42", **sizes))
    plain = torch.rand(1)
    build(load_problem("3/41", **sizes))

    assert not torch.equal(torch.rand(1), plain)


def test_causal_attention_does_not_look_ahead(load_problem: LoadProblem) -> None:
    """In 3/43, 3/44 and 3/50 a later token must leave earlier outputs alone, which is what the mask is for."""
    for key in ("3/43", "3/44", "3/50"):
        module = load_problem(key, batch_size=1, max_seqlen=6, n_embd=24)
        model, (x,) = build(module), [torch.rand(1, 6, 24, dtype=torch.float64)]
        later = x.clone()
        later[:, 4:] += 1

        assert torch.allclose(model(x)[:, :4], model(later)[:, :4])
        assert not torch.allclose(model(x)[:, 4:], model(later)[:, 4:])


@pytest.mark.parametrize("block_len", [4, 12])
def test_state_space_duality_equals_the_recurrence(load_problem: LoadProblem, block_len: int) -> None:
    """3/48 and 3/49 work in blocks; step by step, h = exp(a) h + x b^T and y = h c, they must say the same."""
    sizes = {"batch_size": 2, "seq_length": 12, "n_heads": 3, "d_head": 4, "d_state": 5, "block_len": block_len}
    module = load_problem("3/48", **sizes)
    (x,) = draw(module)
    model = build(module)
    state = torch.zeros(2, 3, 4, 5, dtype=torch.float64)
    outputs = []
    for t in range(12):
        state = torch.exp(model.A[:, t, :, None, None]) * state + x[:, t, :, :, None] * model.B[:, t, :, None, :]
        outputs.append((state * model.C[:, t, :, None, :]).sum(-1))

    assert torch.allclose(model(x), torch.stack(outputs, dim=1))
    assert torch.allclose(build(load_problem("3/49", **sizes))(x), state)


def test_netvlad_descriptors_have_unit_length(load_problem: LoadProblem) -> None:
    """3/46 normalises twice; its ghost clusters take assignments and leave no trace in the shape."""
    module = load_problem("3/46", batch_size=3, num_features=7, num_clusters=4, feature_size=6, ghost_clusters=2)
    (x,) = draw(module)
    descriptors = build(module)(x)

    assert descriptors.shape == (3, 24)
    assert torch.allclose(descriptors.norm(dim=1), torch.ones(3, dtype=torch.float64))


def test_shifted_windows_carry_a_pixel_beyond_its_own_window(load_problem: LoadProblem) -> None:
    """3/30 with one stage: the first block keeps to a window, the second, shifted by half of one, reaches its neighbours only."""
    module = load_problem("3/30")
    torch.manual_seed(7)
    model = module.Model(img_size=28, patch_size=1, depths=[2], num_heads=[2], embed_dim=8, pretrained_window_sizes=[0]).double()
    tokens = torch.rand(1, 28 * 28, 8, dtype=torch.float64)
    touched = tokens.clone()
    touched[0, 0] += 1  # the upper left corner

    def reach(blocks: int) -> torch.Tensor:
        before, after = tokens, touched
        for block in model.layers[0].blocks[:blocks]:
            before, after = block(before), block(after)
        return (before != after).any(dim=-1).view(28, 28).nonzero().max(dim=0).values

    assert reach(1).tolist() == [6, 6]
    assert reach(2).tolist() == [9, 9]
