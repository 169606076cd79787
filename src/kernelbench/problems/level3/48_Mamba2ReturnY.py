import torch
import torch.nn.functional as F
from torch import nn

batch_size = 2048
seq_length = 128
n_heads = 8
d_head = 64
d_state = 16
block_len = 64


def segment_sums(x: torch.Tensor) -> torch.Tensor:
    """Sums of x over (j, i] at [..., i, j], minus infinity where j > i: (..., T) -> (..., T, T)."""
    length = x.size(-1)
    total = torch.cumsum(x, dim=-1)
    sums = total.unsqueeze(-1) - total.unsqueeze(-2)
    causal = torch.tril(torch.ones(length, length, dtype=torch.bool, device=x.device))
    return sums.masked_fill(~causal, float("-inf"))


class Model(nn.Module):
    """Mamba-2 state space duality in blocks: (B, T, n_heads, d_head) -> (B, T, n_heads, d_head)."""

    def __init__(
        self,
        batch_size: int,
        seq_length: int,
        n_heads: int,
        d_head: int,
        d_state: int,
        block_len: int = 64,
    ) -> None:
        super().__init__()
        if seq_length % block_len != 0:
            raise ValueError(f"seq_length {seq_length} is not a multiple of block_len {block_len}")
        self.batch_size = batch_size
        self.seq_length = seq_length
        self.n_heads = n_heads
        self.d_head = d_head
        self.d_state = d_state
        self.block_len = block_len
        self.A = nn.Parameter(torch.randn(batch_size, seq_length, n_heads))
        self.B = nn.Parameter(torch.randn(batch_size, seq_length, n_heads, d_state))
        self.C = nn.Parameter(torch.randn(batch_size, seq_length, n_heads, d_state))

    def forward(self, X: torch.Tensor, initial_states: torch.Tensor | None = None) -> torch.Tensor:
        # Axes: b batch, c and z block, l and s step in a block, h head, p width of a head, n state.
        x, a, b, c = (t.unflatten(1, (-1, self.block_len)) for t in (X, self.A, self.B, self.C))
        a = a.permute(0, 3, 1, 2)
        a_total = torch.cumsum(a, dim=-1)

        # Within a block, as attention with decay.
        decay = torch.exp(segment_sums(a))
        y_within = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", c, b, decay, x)

        # What each block adds to the state, and the state that each block starts from.
        decay_to_end = torch.exp(a_total[..., -1:] - a_total)
        states = torch.einsum("bclhn,bhcl,bclhp->bchpn", b, decay_to_end, x)
        if initial_states is None:
            initial_states = torch.zeros_like(states[:, :1])
        states = torch.cat([initial_states, states], dim=1)
        block_decay = torch.exp(segment_sums(F.pad(a_total[..., -1], (1, 0))))
        states = torch.einsum("bhzc,bchpn->bzhpn", block_decay, states)[:, :-1]

        y_from_state = torch.einsum("bclhn,bchpn,bhcl->bclhp", c, states, torch.exp(a_total))
        return (y_within + y_from_state).flatten(1, 2)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, seq_length, n_heads, d_head)]


def get_init_inputs() -> list[int]:
    return [batch_size, seq_length, n_heads, d_head, d_state, block_len]
