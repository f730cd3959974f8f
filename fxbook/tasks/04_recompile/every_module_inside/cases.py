"""Models with traced modules inside, each with an edit that is not compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage, eager
from fxbook.graph.record import record

from ..cases import Plain, Wrapped, block, calls_of, graph_modules, in_a_row, insert_neg, rows


class Neighbours(nn.Module):
    """Adds up the rows that are neighbours in a graph: not an ``fx.Graph``, but a matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("graph", torch.eye(3))

    def forward(self, x: Tensor) -> Tensor:
        return self.graph @ x


def all_stale(model: nn.Module) -> nn.Module:
    """The model, with an uncompiled edit and a dead node in each traced module, including the model itself."""
    for module in graph_modules(model).values():
        insert_neg(module.graph)
        with module.graph.inserting_before(module.graph.output_node()):
            module.graph.call_function(torch.abs, (module.graph.find_nodes(op="placeholder")[0],))
    return model


def beside_a_sequential() -> nn.Module:
    """The module of the chapter."""
    return all_stale(in_a_row(near=block(), blocks=nn.Sequential(block())))


def under_a_plain_root() -> nn.Module:
    """The root is not a ``GraphModule``, but one child is, and another contains one; a third has a matrix ``graph``."""
    return all_stale(nn.Sequential(Wrapped(block()), block(), Neighbours()))


def several_levels() -> nn.Module:
    """Traced modules on three levels, with untraced modules between them, and a traced module that no node calls."""
    model = in_a_row(outer=Wrapped(in_a_row(inner=Wrapped(block()), last=nn.Tanh())))
    model.spare = Wrapped(block())
    return all_stale(model)


def brought_up_to_date(answer: Callable[[nn.Module], Any], model: nn.Module) -> dict[str, list[str]]:
    """The traced modules that the answer has replaced, those that are stale, and those whose graph it has changed."""
    inside = graph_modules(model)
    before = {path: calls_of(module) for path, module in inside.items()}
    returned = answer(model)
    now = dict(model.named_modules())
    return {
        "elsewhere": isinstance(returned, nn.Module) and returned is not model,
        "replaced": [path for path, module in inside.items() if now.get(path) is not module],
        "stale": [path for path, module in inside.items() if record(module).stale],
        "changed": [path for path, module in inside.items() if calls_of(module) != before[path]],
    }


USAGE = Usage(
    "compute",
    cases=(
        Case("the module of the chapter", beside_a_sequential, rows),
        Case("a root that was not traced", under_a_plain_root, rows, unseen=True),
        Case("several levels", several_levels, rows, unseen=True),
        Case("nothing that was traced", Plain, rows, unseen=True),
    ),
    given=eager,
    call=brought_up_to_date,
)
