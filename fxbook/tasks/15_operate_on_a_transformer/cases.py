"""Shared by the cases of chapter 15: parts of real models, with new random weights."""

from __future__ import annotations

from torch import nn

from fxbook.cases.real import real, with_random_weights

WIDTH = 32


def gpt2() -> nn.Module:
    """GPT-2 with a language modelling head, which shares its weight with the embedding."""
    return with_random_weights(real("gpt2"))


def llama_layer() -> nn.Module:
    """A decoder layer of Llama."""
    return with_random_weights(real("llama").model.layers[0])
