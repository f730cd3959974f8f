"""What the cases of chapter 09 share: a machine whose clock the check sets, and the network of the chapter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn


class Machine:
    """A machine on which time passes only while a function that it made runs.

    Each call slows the machine down by the factor ``drift``. ``log`` holds, in order, what happened: ``None`` where the
    clock was read, else the name of the work that was done, whether gradients were asked for, and whether a
    ``FlopCounterMode`` or another such mode was on.
    """

    def __init__(self, drift: float = 1.0) -> None:
        self.now = 100.0
        self.drift = drift
        self.log: list[tuple[str, bool, bool] | None] = []
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
        load: Callable[..., float] = lambda *arguments: 1.0,
    ) -> Callable[..., Any]:
        """A function called ``name`` that returns ``result(*arguments, **named)``.

        It takes ``seconds`` on this machine, in its first call ``first`` times as long, in call 1, 2, … after that
        ``later(call)`` times as long, and always ``load(*arguments)`` times as long.

        Raises:
            TypeError: from the function, when an argument is ``None``.
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
        """For each call to ``name`` that is alone between two clock readings: whether gradients were on, and a mode."""
        threes = zip(self.log, self.log[1:], self.log[2:], strict=False)
        return [made[1:] for before, made, after in threes if before is after is None and made and made[0] == name]


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
    """Two small images for the network, always of this size, since the sheet prints reports about them."""
    return (torch.randn(2, 3, 8, 8),)


def with_images(model: nn.Module) -> tuple[Any, ...]:
    """The traced network, and images."""
    return fx.symbolic_trace(model), *images()
