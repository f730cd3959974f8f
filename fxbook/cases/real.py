"""Small models from `transformers` for the cases of Part II, each made once per process: the import takes seconds."""

from __future__ import annotations

import copy
import functools
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.models import small


@functools.cache
def real(name: str, **config: Any) -> nn.Module:
    """A model in eval mode. Copy it before you change it."""
    return small(name, **config)[0]


def with_random_weights(part: nn.Module) -> nn.Module:
    """A copy of a part of a model, with new random weights."""
    part = copy.deepcopy(part)
    with torch.no_grad():
        for weight in part.parameters():
            weight.copy_(torch.randn_like(weight) / 4)
    return part


class Logits(nn.Module):
    """A model behind a plain signature: takes one tensor and returns the logits."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.training = model.training

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x).logits
