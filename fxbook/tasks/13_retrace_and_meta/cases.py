"""Shared by the exercises of chapter 13: blocks of real models, and a block written by hand."""

from __future__ import annotations

import copy
import functools

import torch
from torch import Tensor, nn

from fxbook.cases.real import real

WIDTH = 32


@functools.cache
def _blocks() -> dict[str, nn.Module]:
    """Blocks of models from `transformers`."""
    layer = real("llama").model.layers[0]
    block = real("gpt2").transformer.h[0]
    seen = real("vit").vit.layers[0]
    return {
        "llama": nn.Sequential(layer.post_attention_layernorm, layer.mlp),
        "gpt2": nn.Sequential(block.ln_2, block.mlp),
        "vit": nn.Sequential(seen.layernorm_after, seen.mlp),
    }


def block_of(name: str) -> nn.Module:
    """A copy of the norm and the feed-forward block of a layer, in eval mode; no weight requires a gradient."""
    return copy.deepcopy(_blocks()[name]).requires_grad_(False).eval()


def llama() -> nn.Module:
    """The block from Llama: RMSNorm, two projections, SiLU."""
    return block_of("llama")


def gpt2() -> nn.Module:
    """The block from GPT-2: LayerNorm, and GELU in eight operations."""
    return block_of("gpt2")


def vit() -> nn.Module:
    """The block from ViT: LayerNorm, two projections, GELU."""
    return block_of("vit")


def tokens(*shape: int) -> Tensor:
    """Random features of shape ``(*shape, WIDTH)``, by default with a random batch size and length."""
    sizes = shape or tuple(torch.randint(2, 7, (2,)).tolist())
    return torch.randn(*sizes, WIDTH)


class Gated(nn.Module):
    """A block written by hand: two linear layers, one of which computes a gate, and a scale in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(WIDTH, WIDTH)
        self.gate = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("scale", torch.rand(WIDTH))
        self.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        opened = torch.sigmoid(self.gate(x))
        hidden = nn.functional.hardswish(x * self.scale) * opened
        return self.out(hidden.flatten(0, 1).tanh())
