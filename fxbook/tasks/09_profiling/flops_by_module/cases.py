"""Models with products inside submodules and outside of them."""

from __future__ import annotations

from typing import Any

import torch

# A FlopCounterMode imports this on first use, which takes longer than a check may, so it is imported before the fork.
import torch._dynamo
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import ResNet, with_images


class Weighted(nn.Module):
    """A product that no submodule computes."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Sequential(nn.Sequential(nn.Linear(6, 6), nn.GELU()), Weighted(6))
        self.gate = nn.Linear(6, 6)
        self.weight = nn.Parameter(torch.randn(6, 6))

    def forward(self, x: Tensor) -> Tensor:
        mixed = self.mix(self.mix(x)) @ self.weight
        return torch.sigmoid(self.gate(mixed)) * mixed


class Direct(nn.Module):
    """Names that begin alike, two inputs, a nested result, a product from a method, a layer whose result is unused."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Sequential(nn.Linear(6, 4), nn.GELU(), nn.Linear(4, 3))
        self.mix2 = nn.Linear(5, 4)

    def forward(self, x: Tensor, y: Tensor) -> dict[str, tuple[Tensor, ...]]:
        first = self.mix[0](x)
        self.mix[2](first)
        return {"both": (first, self.mix2(y)), "product": (first.matmul(self.mix2(y).t()),)}


class Shared(nn.Module):
    """A layer that the root calls, and a block that also holds it under a later name; a leaf with several products."""

    def __init__(self) -> None:
        super().__init__()
        self.shared, self.cell = nn.Linear(6, 6), nn.GRUCell(6, 6)
        self.block = nn.Sequential(self.shared, nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        return self.block(self.block(self.cell(x))) + self.shared(x)


def many() -> int:
    """A random number of rows, so that no answer can know the FLOPs in advance."""
    return int(torch.randint(2, 7, ()))


def with_rows(model: nn.Module) -> tuple[Any, ...]:
    """The traced model, and rows."""
    return fx.symbolic_trace(model), torch.randn(many(), 6)


def with_two_kinds(model: nn.Module) -> tuple[Any, ...]:
    """The traced model, where the root begins each stack as in a graph from torch.export; and rows of two kinds."""
    traced = fx.symbolic_trace(model)
    for node in traced.graph.nodes:
        if node.op.startswith("call"):
            node.meta["nn_module_stack"] = {"L__self__": ("", type(model)), **node.meta.get("nn_module_stack", {})}
    return traced, torch.randn(many(), 6), torch.randn(many(), 5)


USAGE = Usage(
    "compute",
    cases=(
        Case("the network of the chapter", ResNet, tuple, given=with_images),
        Case("modules in modules, one called twice", Twice, tuple, unseen=True, given=with_rows),
        Case("a child of a child; several inputs", Direct, tuple, unseen=True, given=with_two_kinds),
        Case("a layer in two modules, a leaf with several products", Shared, tuple, unseen=True, given=with_rows),
    ),
)
