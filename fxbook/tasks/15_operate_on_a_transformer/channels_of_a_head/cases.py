"""Attention with several arrangements of the heads in the channels: consecutive, shared, interleaved and rotated."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

from ..cases import WIDTH, gpt2, llama_layer

HEADS = 4
sdpa = nn.functional.scaled_dot_product_attention


class Grouped(nn.Module):
    """Attention with the layers of Llama: four heads for queries, two for keys and values."""

    heads = HEADS

    def __init__(self) -> None:
        super().__init__()
        layer = llama_layer()
        self.norm, self.attention = layer.input_layernorm, layer.self_attn

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.norm(x)
        q = self.attention.q_proj(hidden).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        k = self.attention.k_proj(hidden).unflatten(-1, (HEADS // 2, -1)).transpose(1, 2)
        v = self.attention.v_proj(hidden).unflatten(-1, (HEADS // 2, -1)).transpose(1, 2)
        mixed = sdpa(q, k, v, enable_gqa=True)
        return x + self.attention.o_proj(mixed.transpose(1, 2).flatten(2))


class Fused(nn.Module):
    """GPT-2's attention, with linear layers in place of `Conv1D`: one layer computes query, key and value."""

    heads = HEADS

    def __init__(self) -> None:
        super().__init__()
        attention = gpt2().transformer.h[0].attn
        self.first, self.last = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        for layer, conv in ((self.first, attention.c_attn), (self.last, attention.c_proj)):
            layer.weight = nn.Parameter(conv.weight.detach().T.contiguous())

    def forward(self, x: Tensor) -> Tensor:
        both = self.first(x)
        parts = both[..., :WIDTH], both[..., WIDTH : 2 * WIDTH], both[..., 2 * WIDTH :]
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        return self.last(sdpa(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class Interleaved(nn.Module):
    """The heads are interleaved in the channels; query, key and value come in a random order; and after a norm, the
    halves of each head are rotated as in a rotary embedding. A layer computes what is added to the scores of each head.
    The attention does not use the gate computed before it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.heads = int(one_of(2, 4, 8))
        self.first, self.gate, self.last = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.bias = nn.Linear(WIDTH, self.heads)
        self.order, self.norm = torch.randperm(3).tolist(), nn.LayerNorm(WIDTH // self.heads)

    def forward(self, x: Tensor) -> Tensor:
        gate, parts = self.gate(x), self.first(x)
        parts = [parts[..., WIDTH * place : WIDTH * (place + 1)] for place in self.order]
        q, k, v = (part.unflatten(-1, (-1, self.heads)).permute(0, 3, 1, 2) for part in parts)
        half = WIDTH // self.heads // 2
        q, k = self.norm(q), self.norm(k)
        q, k = (part * 0.8 + torch.cat([-part[..., half:], part[..., :half]], -1) * 0.6 for part in (q, k))
        added = self.bias(x).transpose(1, 2).unsqueeze(2)
        return self.last(sdpa(q, k, v, attn_mask=added).transpose(1, 2).flatten(2)) * gate


class Shared(nn.Module):
    """One key and one value for all heads. The queries come from two layers, one of which is of a subclass of
    ``nn.Linear``, and each head uses one of the two. The key and the value are a few channels of two calls to a wide
    layer. The second half of the value is the negative of the first half, so their sum is 0. The first and the last
    token are not keys. A norm comes before the layers, and no layer comes after the attention.
    """

    heads = HEADS

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.left = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH // 2)
        self.right = nn.modules.linear.NonDynamicallyQuantizableLinear(WIDTH, WIDTH // 2)
        self.both = nn.Linear(WIDTH, 4 * WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(x)
        q = torch.cat([self.left(x), self.right(x)], -1).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        width = WIDTH // HEADS
        key = self.both(x).unsqueeze(1)[..., WIDTH + 1 : WIDTH + 1 + width]
        half = self.both(x).unsqueeze(1)[..., 3 * WIDTH : 3 * WIDTH + width // 2]
        value = torch.cat([half, -half], -1)
        k, v = (part.repeat(1, HEADS, 1, 1)[:, :, 1:-1] for part in (key, value))
        return sdpa(q, k, v).transpose(1, 2).flatten(2)


def given(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: the traced model, an input, and a randomly chosen head."""
    head = int(torch.randint(0, model.heads, ()))
    return fx.symbolic_trace(model), torch.randn(2, int(torch.randint(4, 7, ())), WIDTH), head


USAGE = Usage(
    "compute",
    cases=(
        Case("the attention of Llama", Grouped, tuple),
        Case("the attention of GPT-2", Fused, tuple),
        Case("interleaved heads", Interleaved, tuple, unseen=True),
        Case("one key for all heads", Shared, tuple, unseen=True),
    ),
    given=given,
)
