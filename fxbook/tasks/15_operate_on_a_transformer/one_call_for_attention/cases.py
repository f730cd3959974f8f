"""Written-out attention: with the layers of Llama, and in places where one call must not replace it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

from ..cases import WIDTH, llama_layer


class Heads(nn.Module):
    """Attention with the layers of Llama: each of two key and value heads is repeated for two of the four query heads.
    The values are computed after the attention weights.
    """

    def __init__(self) -> None:
        super().__init__()
        layer = llama_layer()
        self.norm, self.attention = layer.input_layernorm, layer.self_attn

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        hidden = self.norm(x)
        q = self.attention.q_proj(hidden).unflatten(-1, (4, -1)).transpose(1, 2)
        k = self.attention.k_proj(hidden).unflatten(-1, (2, -1)).transpose(1, 2).repeat_interleave(2, 1)
        weights = torch.softmax(q @ k.transpose(-2, -1) * 0.25 + mask, -1)
        v = self.attention.v_proj(hidden).unflatten(-1, (2, -1)).transpose(1, 2).repeat_interleave(2, 1)
        return x + self.attention.o_proj((weights @ v).transpose(1, 2).flatten(2))


class Places(nn.Module):
    """Attention in several places. Some must stay because of the softmax: its dimension is another one or is written
    in another way, it has several users, it is not the left operand of a product, or it is a method or another
    function. Others must stay because of the scores: they are not a product that is scaled by a number on the right, or
    their right operand is transposed in another way, in place, or not at all. Other nodes use parts of the scores.
    """

    def __init__(self) -> None:
        super().__init__()
        self.key, self.gate = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.scale = float(one_of(0.125, 0.5, 0.75))

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Any, ...]:
        k = self.key(x)
        kept = k.transpose(-2, -1)
        cube = torch.tanh(x @ kept)
        right = kept @ torch.softmax(x @ x.transpose(-2, -1) * 0.25 + mask, -1)
        across = torch.softmax(cube @ cube.transpose(0, 1) * 0.5 + mask, -1) @ x
        rolled = torch.softmax(cube @ cube.roll(-2, -1) * 0.5, -1) @ x
        plain = torch.softmax(cube @ cube * 0.5, -1) @ x
        product = x @ k.transpose(-2, -1)
        first = torch.softmax(product * self.scale, -1) @ x
        masked = first @ k.transpose(-2, -1) * 0.25 + mask
        second = torch.softmax(masked, -1) @ k
        turned = torch.softmax(x @ k.transpose(-2, -1) * 0.5 + mask, -2) @ second
        weights = torch.softmax(second @ x.transpose(-2, -1) * 0.25 + mask, -1)
        seen = weights @ k
        gates = torch.softmax(self.gate(seen), -1)
        scaled = seen @ kept * 2
        third = torch.softmax(scaled, -1) @ turned
        written = torch.softmax(seen @ k.clone().transpose_(-2, -1) * 0.5, -1) @ x
        over = torch.softmax(x @ kept * 1.5, -2)
        counted = torch.softmax(x @ x.transpose(-2, -1) * 0.25, 2) @ x
        swapped = torch.softmax(x @ x.transpose(-1, -2) * 0.25, -1) @ x
        deep = torch.softmax(x[None] @ x[None].transpose(2, 3) * 0.25, -1) @ x
        halved = torch.softmax(x @ kept / 2.0, -1) @ x
        blended = torch.softmax(cube * cube.transpose(-2, -1) * 0.5, -1) @ x
        mixed = torch.softmax(x @ kept * 0.5, -1) * cube
        named = torch.softmax(x @ kept * 0.25, dim=-1) @ x
        before = torch.softmax(0.25 * (x @ kept) + mask, -1) @ x
        bare = torch.softmax(x @ kept + mask, -1) @ x
        drawn = torch.softmax(x @ kept * x.mean() + mask, -1) @ x
        last = torch.softmax(x @ kept * 0.25 + mask, -1) @ k
        fourth = torch.softmax(x[None] @ x[None].transpose(-2, -1) * 0.25, 3) @ x
        method, function = (x @ kept * 0.25).softmax(-1) @ x, nn.functional.softmax(x @ kept * 0.25, -1) @ x
        read, stays = (product, masked, scaled), (gates * seen, kept, over, right, across, rolled, plain, written)
        more = counted, swapped, deep, halved, blended, mixed, named, before, bare, drawn, fourth, method, function
        return third, weights, last, read, stays, more


def inputs(count: int = 2) -> tuple[Tensor, Tensor]:
    """Sentences of five tokens, and a mask of floats."""
    return torch.randn(count, 5, WIDTH), 2 * torch.randn(5, 5)


USAGE = Usage(
    "edit",
    cases=(
        Case("the attention of Llama", Heads, inputs),
        Case("several places, some of which stay", Places, lambda: inputs(5), unseen=True),
    ),
)
