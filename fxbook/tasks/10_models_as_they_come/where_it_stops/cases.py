"""Real models, and small ones whose trace stops in a module that is drawn, in several ways, or not at all."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from fxbook.asking import Case, Usage
from fxbook.asking.exercise import one_of

from ..cases import real


class Asking(nn.Module):
    """Asks in its ``forward``, in one of several ways, or does not."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.layer(x)
        if self.way == "shape" and x.shape[-1] != 4:
            raise ValueError("four features were expected")
        if self.way == "count":
            return sum(hidden[row] for row in range(x.shape[0]))
        return hidden


class Block(nn.Module):
    """Modules in modules; one of them asks."""

    def __init__(self, *ways: str) -> None:
        super().__init__()
        self.steps = nn.ModuleList(Asking(way) for way in ways)

    def forward(self, x: Tensor) -> Tensor:
        for step in self.steps:
            x = step(x)
        return x


class Network(nn.Module):
    """Blocks, and a question of its own if it asks itself."""

    def __init__(self, *blocks: nn.Module, asks: bool = False) -> None:
        super().__init__()
        self.blocks, self.asks = nn.Sequential(*blocks), asks

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(x)
        if self.asks:
            return x if x.norm() > 0 else -x
        return x


def somewhere(*ways: str) -> Callable[[], nn.Module]:
    """A network in which one of the ways is taken at a place that is drawn."""

    def build() -> nn.Module:
        way, block, step = one_of(*ways), one_of(0, 1), one_of(0, 1, 2)
        rows = [["none"] * 3 for _ in range(2)]
        rows[block][step] = way
        return Network(*(Block(*row) for row in rows))

    return build


USAGE = Usage(
    "compute",
    cases=(
        Case("a network that asks about a shape", somewhere("shape"), tuple),
        Case("a network that counts its rows", somewhere("count"), tuple),
        Case("a network that can be traced", somewhere("none"), tuple),
        Case("a real model for images", lambda: real(one_of("resnet", "vit")), tuple),
        Case("a real model for texts", lambda: real(one_of("bert", "llama")), tuple, unseen=True),
        Case("a network that asks itself", lambda: Network(Block("none", "none"), asks=True), tuple, unseen=True),
    ),
    given=lambda model: (model,),
)
