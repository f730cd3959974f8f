"""Graphs with tensors for arguments, and the models that compute the same."""

from __future__ import annotations

import torch
from torch import fx, nn

from fxbook.asking import Case, Usage

from ..cases import rows


class ScaleAndShift(nn.Module):
    """``x * 2 + [1, 2, 3]``."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 + torch.tensor([1.0, 2.0, 3.0])


def scale_and_shift_by_hand(model: nn.Module) -> tuple[fx.GraphModule]:
    """``ScaleAndShift`` as a graph with tensors for arguments."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    scaled = graph.call_function(torch.mul, (x, torch.tensor(2.0)))
    graph.output(graph.call_function(torch.add, (scaled, torch.tensor([1.0, 2.0, 3.0]))))
    return (fx.GraphModule({}, graph),)


class Padded(nn.Module):
    """A column of constants on each side, a floor and a ceiling, then an affine map of the module's own."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("constant_0", torch.randn(5))
        self._tensor_constant0 = nn.Parameter(torch.randn(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        padded = torch.cat([torch.zeros(2, 1), x, torch.full((2, 1), 7.0)], dim=1)
        floored = torch.clamp(padded, min=torch.tensor(-0.5), max=torch.tensor(0.75))
        return floored * self.constant_0 + self._tensor_constant0


def padded_by_hand(model: nn.Module) -> tuple[fx.GraphModule]:
    """``Padded`` as a graph with tensors in a list and in two keywords."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    padded = graph.call_function(torch.cat, ([torch.zeros(2, 1), x, torch.full((2, 1), 7.0)],), {"dim": 1})
    bounds = {"min": torch.tensor(-0.5), "max": torch.tensor(0.75)}
    floored = graph.call_function(torch.clamp, (padded,), bounds)
    scaled = graph.call_function(torch.mul, (floored, graph.get_attr("constant_0")))
    graph.output(graph.call_function(torch.add, (scaled, graph.get_attr("_tensor_constant0"))))
    return (fx.GraphModule(model, graph),)


class WithItsPad(nn.Module):
    """Returns a constant beside what it computes."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.relu(x), torch.tensor([7.0, 8.0])


def with_its_pad_by_hand(model: nn.Module) -> tuple[fx.GraphModule]:
    """``WithItsPad`` as a graph with a tensor among the arguments of ``output``."""
    graph = fx.Graph()
    bounded = graph.call_function(torch.relu, (graph.placeholder("x"),))
    graph.output((bounded, torch.tensor([7.0, 8.0])))
    return (fx.GraphModule({}, graph),)


USAGE = Usage(
    "edit",
    given=scale_and_shift_by_hand,
    cases=(
        Case("the scale and shift", ScaleAndShift, rows(3)),
        Case("the padded rows", Padded, rows(3, 2), unseen=True, given=padded_by_hand),
        Case("a constant that is returned", WithItsPad, rows(2), unseen=True, given=with_its_pad_by_hand),
    ),
)
