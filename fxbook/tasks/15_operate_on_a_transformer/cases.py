"""Shared by the cases of chapter 15: parts of real models, with new random weights."""

from __future__ import annotations

import copy
import functools

import torch
from torch import nn

from fxbook.models import small

WIDTH = 32


@functools.cache
def _model(name: str) -> nn.Module:
    """A model from `transformers`, made once in a process, because the import takes seconds."""
    return small(name)[0]


def gpt2() -> nn.Module:
    """GPT-2 with a language head, which shares its weight with the embedding."""
    return _with_new_weights(_model("gpt2"))


def llama_layer() -> nn.Module:
    """A decoder layer of Llama."""
    return _with_new_weights(_model("llama").model.layers[0])


def _with_new_weights(part: nn.Module) -> nn.Module:
    part = copy.deepcopy(part)
    with torch.no_grad():
        for weight in part.parameters():
            weight.copy_(torch.randn_like(weight) / 4)
    return part
