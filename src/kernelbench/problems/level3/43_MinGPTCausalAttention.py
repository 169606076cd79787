import math

import torch
import torch.nn.functional as F
from torch import nn

batch_size = 128
max_seqlen = 1024
seq_len = 512
n_embd = 768
n_head = 8
attn_pdrop = 0.0
resid_pdrop = 0.0


class Model(nn.Module):
    """Causal multi-head self-attention as in minGPT: (B, T, n_embd) -> (B, T, n_embd), T up to max_seqlen."""

    def __init__(self, n_embd: int, n_head: int, attn_pdrop: float, resid_pdrop: float, max_seqlen: int) -> None:
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(attn_pdrop)
        self.resid_dropout = nn.Dropout(resid_pdrop)
        self.register_buffer("bias", torch.tril(torch.ones(max_seqlen, max_seqlen)).view(1, 1, max_seqlen, max_seqlen))
        self.n_head = n_head
        self.n_embd = n_embd

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, time, width = x.shape
        heads = (batch, time, self.n_head, width // self.n_head)
        q, k, v = (part.view(heads).transpose(1, 2) for part in self.c_attn(x).split(self.n_embd, dim=2))

        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.bias[:, :, :time, :time] == 0, float("-inf"))
        weights = self.attn_dropout(F.softmax(scores, dim=-1))
        attended = (weights @ v).transpose(1, 2).contiguous().view(batch, time, width)
        return self.resid_dropout(self.c_proj(attended))


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, seq_len, n_embd)]


def get_init_inputs() -> list[int | float]:
    return [n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen]
