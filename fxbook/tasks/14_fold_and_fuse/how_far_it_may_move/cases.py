"""Layers with and without bias, groups, strides and padding, some of them from real models."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from fxbook.cases import Case, Usage

from ..cases import real

_DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def stem() -> nn.Module:
    """The first convolution of ResNet."""
    return copy.deepcopy(real("resnet")[0].model.resnet.embedder.embedder.convolution)


def gate() -> nn.Module:
    """A linear layer of Llama, without bias."""
    return copy.deepcopy(real("llama")[0].model.model.layers[0].mlp.gate_proj)


def grouped() -> nn.Module:
    # No two sizes of the layer are equal.
    groups = int(torch.randint(3, 5, ()))
    return nn.Conv2d(2 * groups, 5 * groups, (3, 2), stride=(2, 1), padding=1, dilation=(1, 2), groups=groups)


def with_bias() -> nn.Module:
    layer = nn.Linear(*torch.randint(3, 9, (2,)).tolist())
    # A large bias, so that leaving it out makes a difference.
    nn.init.normal_(layer.bias, std=3.0)
    return layer


def single() -> nn.Module:
    """A layer with one output."""
    return nn.Linear(7, 1)


def on(*shape: int) -> Callable[[nn.Module], tuple[Any, ...]]:
    def given(layer: nn.Module) -> tuple[Any, ...]:
        width = layer.in_features if isinstance(layer, nn.Linear) else layer.in_channels
        sizes = (*shape, width) if isinstance(layer, nn.Linear) else (2, width, *shape)
        return layer, torch.randn(*sizes), _DTYPES[int(torch.randint(len(_DTYPES), ()))]

    return given


USAGE = Usage(
    "compute",
    cases=(
        Case("the first convolution of ResNet", stem, tuple, given=on(8, 8)),
        Case("a linear layer with a bias", with_bias, tuple, given=on(3, 2)),
        Case("a convolution with groups", grouped, tuple, unseen=True, given=on(6, 7)),
        Case("a linear layer of Llama", gate, tuple, unseen=True, given=on(2, 3)),
        Case("a layer with one output", single, tuple, unseen=True, given=on(4)),
    ),
)
