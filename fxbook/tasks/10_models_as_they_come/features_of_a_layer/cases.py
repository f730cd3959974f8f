"""Models, one of them real, each with the path of a randomly chosen layer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.models import images

from ..cases import Keeping, wrapped


class Stack(nn.Module):
    """Twelve layers, so that one path is a prefix of another, and a layer without weights at the end."""

    def __init__(self, depth: int = 12) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))
        self.act, self.squash = nn.Tanh(), nn.Sigmoid()

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = self.act(layer(x))
        return self.squash(x)


class Scale(nn.Module):
    """A layer that no node calls, although other nodes use its weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4) + 0.5)


class TwoWays(nn.Module):
    """Two branches, of which the features need only one; the weight of a layer that no node calls; two results."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(4, 3), nn.Linear(4, 3)
        self.left_head, self.right_head = nn.Linear(3, 2), nn.Linear(3, 2)
        self.scale = Scale()
        self.shift = nn.Parameter(torch.rand(2))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        scaled = x * self.scale.weight
        left, right = self.left(input=scaled), self.right(input=scaled.relu())
        return self.left_head(left.sigmoid()) + self.shift, self.right_head(right)


class Namesakes(nn.Module):
    """A layer, an input and a method share a name; some layers have paths that begin or end with another layer's; the
    features do not need one of the inputs, and another has no users.
    """

    def __init__(self) -> None:
        super().__init__()
        self.side, self.first, self.norm = nn.Linear(4, 2), nn.Linear(4, 4), nn.LayerNorm(4)
        self.norm_in = nn.Sequential(OrderedDict(norm=nn.Linear(4, 4)))
        self.last = nn.Sequential(OrderedDict(first=nn.Sequential(nn.Linear(4, 2))))

    def forward(self, x: Tensor, norm: Tensor, spare: Tensor) -> Tensor:
        side = self.side(x)
        scaled = self.norm(self.first(self.norm_in(x)))
        return self.last(scaled / (1 + scaled.norm(dim=-1, keepdim=True))) + norm + side


def wanting(build: Callable[[], nn.Module], *paths: str) -> Callable[[], nn.Module]:
    """Make the model, with one of these paths, chosen at random, as ``model.path``."""

    def made() -> nn.Module:
        model = build()
        model.path = one_of(*paths)
        return model

    return made


def traced_with_path(model: nn.Module) -> tuple[Any, ...]:
    """Pass the traced model, with its layers as leaves, and the path of the chosen layer."""
    traced = fx.GraphModule(model, Keeping("ViTEmbeddings", "ViTLayer").trace(model))
    # Comparisons in the model leave nodes that nothing uses.
    traced.graph.eliminate_dead_code()
    traced.recompile()
    return traced, model.path


def rows() -> tuple[Tensor, ...]:
    return (torch.randn(3, 4),)


def rows_and_numbers() -> tuple[Tensor, ...]:
    return torch.randn(3, 4), torch.randn(2), torch.randn(1)


USAGE = Usage(
    "edit",
    cases=(
        Case(
            "a small ViT",
            wanting(lambda: wrapped("vit"), "model.vit.layers.0", "model.vit.layers.1"),
            lambda: (images(),),
        ),
        Case("a stack of twelve layers", wanting(Stack, "layers.1"), rows, unseen=True),
        Case("two branches", wanting(TwoWays, "left", "right", "right_head"), rows, unseen=True),
        Case("an input that is not needed", wanting(Namesakes, "first"), rows_and_numbers, unseen=True),
        Case("a layer named like a method", wanting(Namesakes, "norm"), rows_and_numbers, unseen=True),
    ),
    given=traced_with_path,
)
