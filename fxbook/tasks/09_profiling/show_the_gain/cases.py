"""Two products and one, on a machine of known speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

# A FlopCounterMode imports this when it is first used, which takes longer than a check may: done here, before the fork.
import torch._dynamo
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import Machine, between

# The times that the calls take, in turn. In any 20 or more in a row, wherever they begin, the deciles are SHORT and
# LONG and the median 1, whichever of the usual definitions is used. In most of them, the neighbouring deciles and the
# extremes are other numbers.
SHORT, LONG, SHORTEST, LONGEST = 0.6, 1.5, 0.2, 8.0
_STEPS = {"m": SHORTEST, "L": SHORT, "l": 0.85, "M": 1.0, "h": 1.2, "H": LONG, "x": LONGEST}
_TAKES = [_STEPS[step] for step in "HLhlhMlHmxlhlhMlHLhlhLHLhMlHlhLHlhMlhlxmhLhLHMlhlHLhlHMLhlHL"]


class Products(nn.Module):
    """``x @ up @ down``, and the same as one product, on a machine where the first takes ``slower`` times as long."""

    def __init__(self, width: int, inner: int, slower: tuple[float, float]) -> None:
        super().__init__()
        self.up, self.down = nn.Parameter(torch.randn(width, inner)), nn.Parameter(torch.randn(inner, width))
        self.slower = between(*slower)

    def two(self, machine: Machine) -> tuple[fx.GraphModule, fx.GraphModule]:
        """Two products and one."""
        # This bypasses the model, which knows how fast the machine is.
        up, down, seconds = self.up, self.down, 0.002

        def later(call: int) -> float:
            return _TAKES[call % len(_TAKES)]

        before = machine.work("before", seconds * self.slower, lambda x: x @ up @ down, _TAKES[0], later)
        return self._graph(before), self._graph(machine.work("after", seconds, self.one(up, down), 1.0))

    def one(self, up: Tensor, down: Tensor) -> Callable[[Tensor], Tensor]:
        """The same as one product: the product of the weights is known beforehand."""
        both = (up @ down).detach()
        return lambda x: x @ both

    def _graph(self, function: Callable[..., Any]) -> fx.GraphModule:
        graph = fx.Graph()
        graph.output(graph.call_function(function, (graph.placeholder("x"),)))
        return fx.GraphModule({}, graph)


class ProductsAndSum(Products):
    """The same with a second input and a nested result; each call of ``after`` multiplies the weights once more."""

    def one(self, up: Tensor, down: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda x: x @ (up @ down)

    def _graph(self, function: Callable[..., Any]) -> fx.GraphModule:
        graph = fx.Graph()
        x, y = graph.placeholder("x"), graph.placeholder("y")
        product = graph.call_function(function, (x,))
        graph.output({"sum": (graph.call_function(torch.add, (product, y)), [product])})
        return fx.GraphModule({}, graph)


def with_and_without(model: nn.Module) -> tuple[Any, ...]:
    """Two modules on a machine of known speed: ``(before, after, inputs, machine)``."""
    assert isinstance(model, Products)
    machine = Machine(drift=1.01)
    before, after = model.two(machine)
    many = int(torch.randint(2, 7, ()))
    inputs = tuple(torch.randn(many, len(model.up)) for _ in before.graph.find_nodes(op="placeholder"))
    return before, after, inputs, machine


def measured(answer: Callable[..., Any], before: Any, after: Any, inputs: tuple[Tensor, ...], machine: Machine) -> Any:
    """What the answer returns, and how often it timed each module, with gradients or a mode, and read the clock."""
    returned = answer(before, after, *inputs, clock=machine.clock)
    first, second = machine.timed("before"), machine.timed("after")
    with_gradients = sum(gradients for gradients, _ in first + second)
    under_a_mode = sum(mode for _, mode in first + second)
    return returned, len(first), len(second), with_gradients, under_a_mode, machine.log.count(None)


USAGE = Usage(
    "compute",
    cases=(
        Case("two products and one", lambda: Products(6, 24, (2.5, 3.5)), tuple),
        Case("fewer FLOPs, and not faster", lambda: Products(5, 30, (0.75, 0.85)), tuple, unseen=True),
        Case("more FLOPs, two inputs, a nested result", lambda: ProductsAndSum(9, 3, (0.5, 0.65)), tuple, unseen=True),
    ),
    given=with_and_without,
    call=measured,
)
