"""Shared by the cases of chapter 16: exported and traced parts of real models, and a block written by hand."""

from __future__ import annotations

import copy
import functools

import torch
from torch import Tensor, fx, nn

from fxbook.cases.exercise import seeded
from fxbook.cases.exported import exported_graph
from fxbook.cases.real import Logits, real

WIDTH = 8


def model_of_words(name: str) -> nn.Module:
    """A decoder from `transformers`."""
    width = {"gpt2": "n_embd", "llama": "hidden_size"}[name]
    return real(name, use_cache=False, **{width: WIDTH})


@functools.cache
def _exported(name: str) -> fx.GraphModule:
    """The graph of a decoder for one sentence of four words."""
    with seeded(0):
        model = Logits(model_of_words(name))
    return exported_graph(model, torch.arange(3, 7)[None])


def exported(name: str) -> fx.GraphModule:
    """A copy of the exported graph of a decoder."""
    return copy.deepcopy(_exported(name))


def gelu() -> fx.GraphModule:
    """The activation of GPT-2, traced: eight operations, the last of which uses the result of the first."""
    return fx.symbolic_trace(model_of_words("gpt2").transformer.h[0].mlp.act)


class Residual(nn.Module):
    """A block with two skip connections, and with a scale that the graph fetches."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 16), nn.Linear(16, WIDTH)
        self.scale = nn.Parameter(torch.rand(WIDTH))

    def forward(self, x: Tensor, shift: Tensor) -> Tensor:
        scaled = x * self.scale
        hidden = torch.relu(self.up(self.norm(scaled)))
        return self.down(hidden) * self.scale + scaled + shift
