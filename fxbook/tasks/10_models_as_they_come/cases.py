"""What the cases of chapter 10 share: real models in a wrapper, and a Tracer for them."""

from __future__ import annotations

import copy
from typing import Any

from torch import fx, nn

from fxbook.cases.real import Logits, real


def wrapped(name: str) -> nn.Module:
    """A copy of a small real model, in its wrapper."""
    return copy.deepcopy(Logits(real(name, use_cache=False)))


class Keeping(fx.Tracer):
    """Treats modules of these classes as leaves, and each ``!=`` as false."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return type(m).__name__ in self.names or super().is_leaf_module(m, module_qualified_name)

    def to_bool(self, obj: Any) -> bool:
        return False if getattr(obj.node.target, "__name__", "") == "ne" else super().to_bool(obj)
