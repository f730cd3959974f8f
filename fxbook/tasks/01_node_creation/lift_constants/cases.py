"""Graphs with tensors among their arguments, and models that compute the same."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import rows


class ScaleAndShift(nn.Module):
    """``x * 2 + [1, 2, 3]``."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 + torch.tensor([1.0, 2.0, 3.0])


def scale_and_shift_by_hand(model: nn.Module) -> tuple[fx.GraphModule]:
    """``ScaleAndShift`` as a graph with tensors as arguments."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    scaled = graph.call_function(torch.mul, (x, torch.tensor(2.0)))
    graph.output(graph.call_function(torch.add, (scaled, torch.tensor([1.0, 2.0, 3.0]))))
    return (fx.GraphModule({}, graph),)


class Padded(nn.Module):
    """Adds a constant column on each side, clamps the values, then scales and shifts them by tensors of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("constant_0", torch.randn(5))
        self._tensor_constant0 = nn.Parameter(torch.randn(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        padded = torch.cat([torch.zeros(2, 1), x, torch.full((2, 1), 7.0)], dim=1)
        limited = torch.clamp(padded, min=-0.5, max=0.75)
        return (limited * self.constant_0 + self._tensor_constant0) * 3


def padded_by_hand(model: nn.Module) -> tuple[fx.GraphModule, Tensor]:
    """``Padded`` as a graph with tensors in a list and in keywords, and the last factor, which the graph lacks.

    ``maximum`` and ``minimum`` take no Python number in place of a tensor.
    """
    graph = fx.Graph()
    x = graph.placeholder("x")
    padded = graph.call_function(torch.cat, ([torch.zeros(2, 1), x, torch.full((2, 1), 7.0)],), {"dim": 1})
    raised = graph.call_function(torch.maximum, (padded,), {"other": torch.tensor(-0.5)})
    limited = graph.call_function(torch.minimum, (), {"input": torch.tensor(0.75), "other": raised})
    scaled = graph.call_function(torch.mul, (limited, graph.get_attr("constant_0")))
    graph.output(graph.call_function(torch.add, (scaled, graph.get_attr("_tensor_constant0"))))
    return fx.GraphModule(model, graph), torch.tensor(3.0)


class FilledColumn(nn.Module):
    """Fills a column that a mask selects; returns four constants, one of which equals another before ``zero_``.

    The last two are printed alike, but differ.
    """

    def forward(self, x: torch.Tensor) -> tuple[Any, ...]:
        filled = torch.relu(x).masked_fill(torch.tensor([True, False]), 0.5)
        alike = [torch.tensor(0.01014), torch.tensor(0.01006)]
        return filled, torch.tensor([7.0, 8.0]).zero_(), torch.tensor([7.0, 8.0]), alike


def filled_column_by_hand(model: nn.Module) -> tuple[fx.GraphModule]:
    """``FilledColumn`` as a graph with tensors in method calls, and with a parameter and a list in ``output``."""
    graph = fx.Graph()
    bounded = graph.call_function(torch.relu, (graph.placeholder("x"),))
    filled = graph.call_method("masked_fill", (bounded, torch.tensor([True, False]), 0.5))
    cleared = graph.call_method("zero_", (torch.tensor([7.0, 8.0]),))
    last = graph.output(filled)
    made = fx.GraphModule({}, graph)
    # Before torch 2.12, a parameter's code is not valid Python: a module with one can be edited, but not made.
    alike = [torch.tensor(0.01014), torch.tensor(0.01006)]
    last.args = ((filled, cleared, nn.Parameter(torch.tensor([7.0, 8.0])), alike),)
    return (made,)


def repaired_again(answer: Any, gm: fx.GraphModule, *later: Tensor) -> Any:
    """What the answer returns last: its result is multiplied by each later tensor, then passed to the answer again.

    By then, the module already has attributes with the names that the answer chooses. A result that is already
    multiplied is returned unchanged: when it is judged again, there is no answer to call, only its result.
    """
    result = answer(gm)
    for factor in later:
        graph = (result if isinstance(result, fx.GraphModule) else gm).graph
        if len(graph.find_nodes(op="call_function", target=torch.mul)) > 1:
            return result
        for last in graph.find_nodes(op="output"):
            with graph.inserting_before(last):
                last.args = (graph.call_function(torch.mul, (last.args[0], factor)),)
        result = answer(graph.owning_module)
    return result


USAGE = Usage(
    "edit",
    given=scale_and_shift_by_hand,
    cases=(
        Case("the scale and shift", ScaleAndShift, rows(3)),
        Case("the padded rows, repaired once more", Padded, rows(3, 2), unseen=True, given=padded_by_hand),
        Case(
            "nested results, tensors for methods",
            FilledColumn,
            rows(2),
            unseen=True,
            given=filled_column_by_hand,
        ),
    ),
    call=repaired_again,
)
