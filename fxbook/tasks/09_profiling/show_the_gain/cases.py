"""Two products and the same as one product, on a simulated machine."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch

# Imported before the fork, because the first FlopCounterMode imports it, and that would exceed a check's time limit.
import torch._dynamo
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import Machine, between

# The factors by which successive calls are slower. Any 20 or more successive factors have the deciles SHORT and LONG
# and the median 1, by any of the usual definitions; the next deciles and the extremes are usually other numbers.
SHORT, LONG, SHORTEST, LONGEST = 0.6, 1.5, 0.2, 8.0
_FACTORS = {"m": SHORTEST, "L": SHORT, "l": 0.85, "M": 1.0, "h": 1.2, "H": LONG, "x": LONGEST}
_IN_TURN = [_FACTORS[letter] for letter in "HLhlhMlHmxlhlhMlHLhlhLHLhMlHlhLHlhMlhlxmhLhLHMlhlHLhlHMLhlHL"]


class Products(nn.Module):
    """``x @ up @ down``, and the same as one product; the first takes ``self.slower`` times as long as the second."""

    def __init__(self, width: int, inner: int, slower: tuple[float, float]) -> None:
        super().__init__()
        self.up, self.down = nn.Parameter(torch.randn(width, inner)), nn.Parameter(torch.randn(inner, width))
        self.slower = between(*slower)

    def two(self, machine: Machine) -> tuple[fx.GraphModule, fx.GraphModule]:
        """The module with two products, and the module with one."""
        # Local names, because an answer can reach what the lambdas refer to, and the model would reveal `slower`.
        up, down, seconds = self.up, self.down, 0.002

        def later(call: int) -> float:
            return _IN_TURN[call % len(_IN_TURN)]

        before = machine.work("before", seconds * self.slower, lambda x: x @ up @ down, _IN_TURN[0], later)
        return self._graph(before), self._graph(machine.work("after", seconds, self.one(up, down), 1.0))

    def one(self, up: Tensor, down: Tensor) -> Callable[[Tensor], Tensor]:
        """The same as one product: the weights are multiplied beforehand."""
        both = (up @ down).detach()
        return lambda x: x @ both

    def _graph(self, function: Callable[..., Any]) -> fx.GraphModule:
        graph = fx.Graph()
        graph.output(graph.call_function(function, (graph.placeholder("x"),)))
        return fx.GraphModule({}, graph)


class ProductsAndSum(Products):
    """With a second input and a nested result; ``after`` multiplies the weights again in each call."""

    def one(self, up: Tensor, down: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda x: x @ (up @ down)

    def _graph(self, function: Callable[..., Any]) -> fx.GraphModule:
        graph = fx.Graph()
        x, y = graph.placeholder("x"), graph.placeholder("y")
        product = graph.call_function(function, (x,))
        graph.output({"sum": (graph.call_function(torch.add, (product, y)), [product])})
        return fx.GraphModule({}, graph)


def with_and_without(model: nn.Module) -> tuple[Any, ...]:
    """Pass ``(before, after, inputs, machine)``: two modules on a simulated machine, and inputs for both."""
    assert isinstance(model, Products)
    machine = Machine(drift=1.01)
    before, after = model.two(machine)
    batch = int(torch.randint(2, 7, ()))
    inputs = tuple(torch.randn(batch, len(model.up)) for _ in before.graph.find_nodes(op="placeholder"))
    return before, after, inputs, machine


def measured(answer: Callable[..., Any], before: Any, after: Any, inputs: tuple[Tensor, ...], machine: Machine) -> Any:
    """The answer's result, and counts: timed calls (to each module, with gradients, under a mode), clock readings,
    timed calls in a row, and calls between timed calls."""
    returned = answer(before, after, *inputs, clock=machine.clock)
    first, second = machine.timed("before"), machine.timed("after")
    with_gradients = sum(gradients for gradients, _ in first + second)
    under_a_mode = sum(mode for _, mode in first + second)
    in_a_row = max((len(list(run)) for _, run in itertools.groupby(machine.timed_names())), default=0)
    counts = (len(first), len(second), with_gradients, under_a_mode, machine.log.count(None), in_a_row)
    return returned, *counts, machine.untimed_between()


USAGE = Usage(
    "compute",
    cases=(
        Case("two products before, one after", lambda: Products(6, 24, (2.5, 3.5)), tuple),
        Case("fewer FLOPs, but not faster", lambda: Products(5, 30, (0.75, 0.85)), tuple, unseen=True),
        Case("more FLOPs, two inputs, a nested result", lambda: ProductsAndSum(9, 3, (0.5, 0.65)), tuple, unseen=True),
    ),
    given=with_and_without,
    call=measured,
)
