"""What the cases of chapter 10 share: real models in a wrapper, and a Tracer for them."""

from __future__ import annotations

import copy
import functools
from typing import Any

from torch import Tensor, fx, nn

from fxbook.models import small


class Logits(nn.Module):
    """A library's model behind a plain signature: takes one tensor and returns the logits."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.training = model.training

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x).logits


@functools.cache
def _made(name: str) -> nn.Module:
    """A model, made once per process and only if needed, because importing the library takes seconds."""
    return Logits(small(name, use_cache=False)[0])


def real(name: str) -> nn.Module:
    """A copy of a small real model, in its wrapper."""
    return copy.deepcopy(_made(name))


class Keeping(fx.Tracer):
    """Treats modules of these classes as leaves, and each ``!=`` as false."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return type(m).__name__ in self.names or super().is_leaf_module(m, module_qualified_name)

    def to_bool(self, obj: Any) -> bool:
        return False if getattr(obj.node.target, "__name__", "") == "ne" else super().to_bool(obj)
