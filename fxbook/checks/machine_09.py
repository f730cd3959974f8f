"""A machine whose clock the check sets, and graphs that take a known time on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, fx, nn


class Machine:
    """A machine on which time passes only while something that was made by it runs.

    Each call slows the machine down by the factor ``drift``. ``log`` holds in order what happened: ``None`` where the
    clock was read, else the name of the work that was done and whether gradients were asked for.
    """

    def __init__(self, drift: float = 1.0) -> None:
        self.now = 100.0
        self.drift = drift
        self.log: list[tuple[str, bool] | None] = []
        self._slowness = 1.0

    def clock(self) -> float:
        """Seconds, as ``time.perf_counter()`` gives them."""
        self.log.append(None)
        return self.now

    def work(
        self,
        name: str,
        seconds: float,
        result: Callable[..., Any],
        first: float = 40.0,
        later: Callable[[int], float] = lambda call: 1.0,
    ) -> Callable[..., Any]:
        """A function called ``name`` that gives ``result(*arguments)``.

        It takes ``seconds`` on this machine, in its first call ``first`` times as long, in call 1, 2, … after that
        ``later(call)`` times as long.

        Raises:
            TypeError: from the function, when an argument is ``None``.
        """
        calls = 0

        def function(*arguments: Any) -> Any:
            nonlocal calls
            if any(argument is None for argument in arguments):
                raise TypeError(f"`{name}` was given None: for the node that it reads, run_node returned nothing.")
            self.log.append((name, torch.is_grad_enabled()))
            self.now += seconds * self._slowness * (later(calls) if calls else first)
            self._slowness *= self.drift
            calls += 1
            return result(*arguments)

        function.__name__ = function.__qualname__ = name
        return function

    def timed(self, name: str) -> list[bool]:
        """For each call of ``name`` that stands alone between two looks at the clock, whether it asks for gradients."""
        threes = zip(self.log, self.log[1:], self.log[2:], strict=False)
        return [made[1] for before, made, after in threes if before is after is None and made and made[0] == name]


def between(least: float, most: float) -> float:
    """A number that is drawn under torch's seed."""
    return float(torch.empty((), dtype=torch.float64).uniform_(least, most))


class Drifting(nn.Module):
    """Two calls, of which one takes ``ratio`` times as long, on a machine that is slower by ``drift`` at each call."""

    def __init__(self) -> None:
        super().__init__()
        self.ratio, self.drift = between(2.2, 4.0), between(1.015, 1.03)

    def forward(self, x: Tensor) -> Tensor:
        return x


class Timed(nn.Module):
    """A graph of functions that take a known time: ``costs`` are seconds by node, none for a node left out.

    The machine is faster or slower each time. Each call of a function takes longer by the share ``growth``, so that no
    time stands for another.
    """

    usual: ClassVar[dict[str, float]] = {"load": 0.002, "multiply": 0.030, "small": 0.001}
    inputs = 1
    growth = 0.01

    def __init__(self) -> None:
        super().__init__()
        speed = between(0.5, 2.0)
        self.costs = {name: seconds * speed for name, seconds in self.usual.items()}

    @classmethod
    def slower(cls, call: int) -> float:
        return 1 + cls.growth * call

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
    """Two inputs, and one function that two nodes call."""

    usual: ClassVar[dict[str, float]] = {"scale": 0.004, "scale_1": 0.004, "join": 0.020}
    inputs = 2

    def graph(self, machine: Machine) -> fx.GraphModule:
        graph = fx.Graph()
        x, y = graph.placeholder("x"), graph.placeholder("y")
        scale = machine.work("scale", self.costs["scale"], torch.neg, later=self.slower)
        both = [graph.call_function(scale, (value,)) for value in (x, y)]
        join = machine.work("join", self.costs["join"], torch.sub, later=self.slower)
        graph.output((graph.call_function(join, tuple(both)), x))
        return fx.GraphModule({}, graph)


# What the calls take, in turn: 1 of 24 is very short and 1 very long, 4 are short and 4 long. In any 20 or more in
# a row the deciles are 0.6 and 1.5 and the median 1, whichever of the usual definitions is used.
SHORT, LONG, SHORTEST, LONGEST = 0.6, 1.5, 0.2, 8.0
_TAKES = [
    {"M": 1.0, "L": SHORT, "H": LONG, "m": SHORTEST, "x": LONGEST}[letter] for letter in "MMHMLMHMMMxMLMHHmLMMLMMM"
]


class Products(nn.Module):
    """``x @ up @ down``, and the same as one product, on a machine where the first takes ``slower`` times as long."""

    def __init__(self, width: int, inner: int, slower: tuple[float, float]) -> None:
        super().__init__()
        self.up, self.down = nn.Parameter(torch.randn(width, inner)), nn.Parameter(torch.randn(inner, width))
        self.slower = between(*slower)

    def two(self, machine: Machine) -> tuple[fx.GraphModule, fx.GraphModule]:
        """Two products and one."""
        # Not by way of the model, which knows how fast the machine is.
        up, down = self.up, self.down
        both = (up @ down).detach()
        seconds = 0.002
        before = machine.work(
            "before",
            seconds * self.slower,
            lambda x: x @ up @ down,
            later=lambda call: _TAKES[call % len(_TAKES)],
        )
        return self._graph(before), self._graph(machine.work("after", seconds, lambda x: x @ both))

    def _graph(self, function: Callable[..., Any]) -> fx.GraphModule:
        graph = fx.Graph()
        graph.output(graph.call_function(function, (graph.placeholder("x"),)))
        return fx.GraphModule({}, graph)
