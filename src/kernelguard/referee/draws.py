"""Inputs from the problem's own `get_inputs`, on the device, and the probes that alter the random numbers it draws.

Altering the draws and not the tensors keeps derived structure (triangles, targets, masks, probabilities) intact.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch.overrides import TorchFunctionMode

from kernelguard.terms.plan import DrawKind

MAX_NONZEROS = 8
SPARSE_SHARE = 0.25
_UNIFORM = {torch.rand, torch.rand_like}
_NORMAL = {torch.randn, torch.randn_like}
EDITS = 1  # elements of each input that a canary's third call alters


class Altered(TorchFunctionMode):
    """Passes every draw of torch.rand and its kin through `alter(tensor, is_uniform)`, and counts draws made on the host."""

    def __init__(self, alter: Callable[[torch.Tensor, bool], torch.Tensor]) -> None:
        super().__init__()
        self._alter = alter

    def __torch_function__(
        self, func: object, types: Sequence[type], args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None
    ) -> object:
        """Run the call, then alter what it drew."""
        result = func(*args, **(kwargs or {}))  # type: ignore[operator]  # torch hands over its own callables
        if isinstance(result, torch.Tensor) and result.is_floating_point() and (func in _UNIFORM or func in _NORMAL):
            return self._alter(result, func in _UNIFORM)
        return result


def draw(get_inputs: Callable[[], Sequence[object]], *, seed: int, device: str, kind: DrawKind, variant: int) -> list[object]:
    """One set of forward arguments. The same seed, kind and variant give the same values."""
    alter = _ALTERATIONS.get(kind)
    torch.manual_seed(seed)
    with torch.device(device):
        if alter is None:
            return list(get_inputs())
        with Altered(lambda tensor, uniform: alter(tensor, uniform, variant)):
            return list(get_inputs())


def edit(inputs: Sequence[torch.Tensor], *, seed: int) -> None:
    """Alter single elements of each floating input, in place, by values that stay in the problem's range."""
    generator = torch.Generator().manual_seed(seed % (1 << 62))
    for tensor in inputs:
        if not tensor.is_floating_point() or tensor.numel() < 2:
            continue
        flat = tensor.as_strided((tensor.numel(),), (1,))  # dense, in whatever order its dimensions lie
        for _ in range(EDITS):
            here = int(torch.randint(flat.numel(), (1,), generator=generator, device="cpu").item())
            flat[here] = _other_end(flat[here], flat.min(), flat.max())


def _other_end(value: torch.Tensor, smallest: torch.Tensor, largest: torch.Tensor) -> torch.Tensor:
    """The smallest or the largest value of an input, whichever is farther from `value`; 0-d tensors, infinities included."""
    farther = torch.where(largest - value > value - smallest, largest, smallest)
    return torch.where(value == largest, smallest, torch.where(value == smallest, largest, farther))


def _sparse(tensor: torch.Tensor, _uniform: bool, variant: int) -> torch.Tensor:  # noqa: FBT001 - one signature for all alterations
    """A share of the rows keep 1 to 8 of their numbers and become zero elsewhere."""
    if tensor.dim() == 0 or tensor.shape[-1] < 2 * MAX_NONZEROS:
        return tensor
    flat = tensor.reshape(-1, tensor.shape[-1])
    kept = 1 + variant % MAX_NONZEROS
    where = torch.randint(flat.shape[1], (flat.shape[0], kept), device=flat.device)
    values = flat.gather(1, where)
    share = SPARSE_SHARE if flat.shape[0] > 1 else 1.0
    chosen = torch.empty(flat.shape[0], 1, device=flat.device).uniform_() < share
    flat.masked_fill_(chosen, 0)
    return flat.scatter_(1, where, values).view(tensor.shape)


def _shape(tensor: torch.Tensor, uniform: bool, variant: int) -> torch.Tensor:  # noqa: FBT001 - one signature for all alterations
    """Another distribution inside the same range."""
    match variant % 4:
        case 0:
            return tensor**3 if uniform else tensor.abs()  # another mean
        case 1:
            return tensor.sort(dim=-1).values if tensor.dim() else tensor
        case 2:
            return tensor[..., :1].expand_as(tensor).contiguous() if tensor.dim() else tensor  # constant rows
        case _:
            return tensor**8 if uniform else tensor * tensor.abs()  # a heavy tail


def _wide(tensor: torch.Tensor, uniform: bool, variant: int) -> torch.Tensor:  # noqa: FBT001 - one signature for all alterations
    """Outside the range that the problem draws from."""
    centred = tensor - 0.5 if uniform else tensor
    match variant % 4:
        case 0:
            return centred * 2
        case 1:
            return centred * 8
        case 2:
            return centred + 2
        case _:
            return -centred


_ALTERATIONS: dict[DrawKind, Callable[[torch.Tensor, bool, int], torch.Tensor]] = {
    DrawKind.SPARSE: _sparse,
    DrawKind.SHAPE: _shape,
    DrawKind.WIDE: _wide,
}
