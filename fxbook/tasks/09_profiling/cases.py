"""What the cases of chapter 09 share: a simulated machine with its own clock, and the network of the chapter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn


class Machine:
    """A simulated machine: time passes only while a function made by :meth:`work` runs.

    After each call, the machine is slower by the factor ``drift``. ``log`` has an entry for each event, in order:
    ``None`` if the clock was read; for a call, the name of the function, whether gradients were on, and whether a
    ``FlopCounterMode`` or another such mode was on.
    """

    def __init__(self, drift: float = 1.0) -> None:
        self.now = 100.0
        self.drift = drift
        self.log: list[tuple[str, bool, bool] | None] = []
        self._slowness = 1.0

    def clock(self) -> float:
        """The time in seconds, like ``time.perf_counter()``."""
        self.log.append(None)
        return self.now

    def work(
        self,
        name: str,
        seconds: float,
        result: Callable[..., Any],
        first: float = 40.0,
        later: Callable[[int], float] = lambda call: 1.0,
        load: Callable[..., float] = lambda *arguments: 1.0,
    ) -> Callable[..., Any]:
        """A function called ``name`` that returns ``result(*arguments, **named)``.

        A call takes ``seconds * load(*arguments)`` times a factor: ``first`` for call 0, ``later(call)`` for call 1, 2,
        and so on. The function raises TypeError if an argument is ``None``.
        """
        calls = 0

        def function(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            if any(argument is None for argument in (*arguments, *named.values())):
                raise TypeError(f"`{name}` got None: run_node returned nothing for the node that it uses.")
            self.log.append((name, torch.is_grad_enabled(), bool(torch._C._len_torch_dispatch_stack())))
            self.now += seconds * load(*arguments) * self._slowness * (later(calls) if calls else first)
            self._slowness *= self.drift
            calls += 1
            return result(*arguments, **named)

        function.__name__ = function.__qualname__ = name
        return function

    def timed(self, name: str) -> list[tuple[bool, bool]]:
        """For each call to ``name`` that is alone between two clock readings, whether gradients and a mode were on."""
        return [call[1:] for call in self._alone() if call[0] == name]

    def timed_names(self) -> list[str]:
        """The name of each function that was called alone between two clock readings, in order."""
        return [call[0] for call in self._alone()]

    def untimed_between(self) -> int:
        """The number of calls between the first and the last timed call that were not timed alone."""
        places = [place for place, call in enumerate(self.log) if call]
        alone = [place for place in places if self.log[place - 1 : place + 2 : 2] == [None, None]]
        return sum(alone[0] < place < alone[-1] for place in places) - len(alone[1:-1]) if alone else 0

    def _alone(self) -> list[tuple[str, bool, bool]]:
        triples = zip(self.log, self.log[1:], self.log[2:], strict=False)
        return [call for before, call, after in triples if before is after is None and call]


def between(least: float, most: float) -> float:
    """A random number in this range, from torch's seeded generator."""
    return float(torch.empty((), dtype=torch.float64).uniform_(least, most))


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.conv2(torch.relu(self.norm1(self.conv1(x)))))


class ResNet(nn.Module):
    """The network of the chapter, smaller."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.block = Block(4)
        self.project = nn.Conv2d(4, 24, 1)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(24, 5)
        self.eval()

    def forward(self, images: Tensor) -> Tensor:
        x = self.pool(self.project(self.block(torch.relu(self.stem(images)))))
        return self.head(x.flatten(1))


def images() -> tuple[Tensor, ...]:
    """Two small images for the network; of a fixed size, because notebooks contain reports about them."""
    return (torch.randn(2, 3, 8, 8),)


def with_images(model: nn.Module) -> tuple[Any, ...]:
    """Pass the traced network, and images."""
    return fx.symbolic_trace(model), *images()
