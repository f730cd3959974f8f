"""Models with sums over one dimension, over several, and over all."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage, traced

from ..cases import MoreSums, Sums, rows


class NamedSum(nn.Module):
    """An input and a layer named ``sum``, a method whose name begins with ``sum``, and a sum that no node uses."""

    def __init__(self) -> None:
        super().__init__()
        self.sum = nn.Linear(4, 4)

    def forward(self, sum: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.sum(sum)
        torch.sum(input=hidden)
        return hidden.sum(1), hidden.sum_to_size(1, 4)


class Centred(nn.Module):
    """A layer followed by a sum, in a graph of its own."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.layer(x)
        return hidden - torch.sum(hidden, dim=0)


def with_traced_layer(model: NamedSum) -> tuple[fx.GraphModule]:
    """Pass the traced model, in which a layer is a traced module with another sum."""
    module = fx.symbolic_trace(model)
    module.sum = fx.symbolic_trace(Centred(model.sum))
    next(node for node in module.sum.graph.nodes if node.target is torch.sum)._rename("inner")
    module.sum.recompile()
    return (module,)


USAGE = Usage(
    "compute",
    cases=(
        Case("sums over one dimension and over all", Sums, rows()),
        Case("sums with other arguments", MoreSums, rows(), unseen=True),
        Case("an input and a layer named sum", NamedSum, rows(), True, with_traced_layer),
    ),
    given=traced,
)
