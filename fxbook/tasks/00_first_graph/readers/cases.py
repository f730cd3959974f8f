"""Values that nodes use in every possible way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of

from ..cases import Classifier, Dense, RandomLayers, returned_as_list, rows


class Cut(nn.Module):
    """A value that is used as each of the three parts of a slice."""

    def forward(self, x: Tensor, size: int) -> Tensor:
        return x[size:].sum() + x[:size].sum() + x[::size].sum()


class Squashing(nn.Module):
    """``tanh`` is used in lists and a dict; ``exp`` has no users. Another layer and an option have similar names."""

    def __init__(self) -> None:
        super().__init__()
        self.tanhshrink = nn.Tanhshrink()
        self.tanh = nn.Tanh()

    def forward(self, x: Tensor) -> dict[str, Any]:
        shrunk = self.tanhshrink(x)
        value = self.tanh(x)
        value.exp()
        joined = torch.cat(tensors=[value, shrunk])
        smooth = nn.functional.gelu(shrunk, approximate="tanh")
        return {"parts": [joined, smooth, (value, x)], "sum": value.sin() + value.sin()}


def traced_and(name: str) -> Callable[[nn.Module], tuple[fx.GraphModule, str]]:
    """The answer gets the traced model and the name of a node."""
    return lambda model: (fx.symbolic_trace(model), name)


def traced_and_a_node(model: nn.Module) -> tuple[fx.GraphModule, str]:
    """The answer gets the traced model, whose ``tanh`` nodes have swapped names, and the name of a random node.

    The name is also the target of another node, and in a second trace it belongs to another node.
    """
    traced = fx.symbolic_trace(model)
    nodes = traced.graph.find_nodes(op="call_method", target="tanh")
    for node, name in zip(nodes, [node.name for node in nodes][::-1], strict=True):
        node.name = name
    traced.recompile()
    return traced, one_of("tanh", *(name for name in model.order if model.order.count(name) > 1))


USAGE = Usage(
    "compute",
    cases=(
        Case("`relu` of the classifier", Classifier, rows(4), given=traced_and("relu")),
        Case("`block` of a dense block", Dense, rows(4), unseen=True, given=traced_and("block")),
        Case("`x` of a dense block", Dense, rows(4), unseen=True, given=traced_and("x")),
        Case("`cat` of a dense block", Dense, rows(4), unseen=True, given=traced_and("cat")),
        Case("`cat_1` of a dense block", Dense, rows(4), unseen=True, given=traced_and("cat_1")),
        Case("`size` of slices", Cut, lambda: (torch.randn(4), 2), unseen=True, given=traced_and("size")),
        Case("`tanh` of a squashing block", Squashing, rows(4), unseen=True, given=traced_and("tanh")),
        Case("`exp`, which has no users", Squashing, rows(4), unseen=True, given=traced_and("exp")),
        Case(
            "a random node of a model with random layers", RandomLayers, rows(4), unseen=True, given=traced_and_a_node
        ),
    ),
    call=returned_as_list,
)
