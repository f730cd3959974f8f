"""Graphs of functions that take a known time on a simulated machine."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import Machine, between


def swapped(call: int) -> int:
    """Exchange 2 and 3, 4 and 5, and so on; its own inverse."""
    return call if call < 2 else call ^ 1


class Timed(nn.Module):
    """A graph of functions that take a known time: ``costs`` maps node names to seconds; other nodes take no time.

    The speed of the machine is random. Call 0 of a function takes 40 times its cost, and a later call ``n`` takes
    ``1 + growth * swapped(n)`` times its cost, so that all times differ, the slowest run is not the first, and sorting
    the times changes their order.
    """

    usual: ClassVar[dict[str, float]] = {"load": 0.002, "multiply": 0.030, "small": 0.001}
    shapes: ClassVar[list[tuple[int, ...]]] = [(3,)]
    growth = 10
    runs = 5

    def __init__(self) -> None:
        super().__init__()
        speed = between(0.5, 2.0)
        self.costs = {name: seconds * speed for name, seconds in self.usual.items()}

    @classmethod
    def slower(cls, call: int) -> float:
        return 1 + cls.growth * swapped(call)

    def graph(self, machine: Machine) -> fx.GraphModule:
        graph = fx.Graph()
        x = graph.placeholder("x")
        load, multiply, small = (
            machine.work(name, seconds, result, later=self.slower)
            for (name, seconds), result in zip(self.costs.items(), (torch.abs, torch.mul, torch.add), strict=True)
        )
        loaded = graph.call_function(load, (x,))
        product = graph.call_function(multiply, (loaded, x))
        graph.output(graph.call_function(small, (product, loaded)))
        return fx.GraphModule({}, graph)

    def forward(self, x: Tensor) -> Tensor:
        return torch.add(torch.abs(x) * x, torch.abs(x))


class TimedTwice(Timed):
    """Three nodes call the same function, with different costs; one of them has no users. One argument is a keyword."""

    usual: ClassVar[dict[str, float]] = {"scale": 0.004, "scale_1": 0.008, "scale_2": 0.012, "join": 0.020}
    shapes: ClassVar[list[tuple[int, ...]]] = [(3,), (6,)]
    runs = 3

    def graph(self, machine: Machine) -> fx.GraphModule:
        graph = fx.Graph()
        x, y = graph.placeholder("x"), graph.placeholder("y")
        scale = machine.work(
            "scale", self.costs["scale"], torch.neg, later=self.slower, load=lambda value: value.numel() / 3
        )
        both = [graph.call_function(scale, (value,)) for value in (x, y)]
        graph.call_function(scale, (graph.get_attr("shift"),))
        join = machine.work("join", self.costs["join"], lambda x, other: torch.cat([x, other]), later=self.slower)
        graph.output({"joined": (graph.call_function(join, (both[0],), {"other": both[1]}), [x]), "other": y})
        return fx.GraphModule({"shift": torch.randn(9)}, graph)


def on_a_machine(model: nn.Module) -> tuple[Any, ...]:
    """Pass ``(traced, inputs, runs, clock)``: a graph on a simulated machine."""
    assert isinstance(model, Timed)
    machine = Machine()
    return model.graph(machine), tuple(torch.randn(shape) for shape in model.shapes), model.runs, machine.clock


USAGE = Usage(
    "compute",
    cases=(
        Case("three functions", Timed, tuple),
        Case("two inputs, and a function that several nodes call", TimedTwice, tuple, unseen=True),
    ),
    given=on_a_machine,
)
