"""Interpreters that free values at different times, and models that they run."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import ROWS, WIDTH, Mixed, Unused, with_inputs, without_gradients


class Hoarding(fx.Interpreter):
    """Keeps every value to the end of the run."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module, garbage_collect_values=False)


class Collecting(fx.Interpreter):
    """Keeps every result in a list, outside ``env``."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module)
        self.results: list[Any] = []

    def run_node(self, n: fx.Node) -> Any:
        self.results.append(super().run_node(n))
        return self.results[-1]


class Dropping(fx.Interpreter):
    """Deletes a result without users as soon as it is computed."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module)
        for n in self.graph.nodes:
            if n.op == "call_function" and len(n.users) == 0:
                self.user_to_last_uses[n] = [n, *self.user_to_last_uses.get(n, ())]


class Late(fx.Interpreter):
    """Keeps the values that a node used until the next node has run."""

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        self.used = list(self.env.values())
        return value


class Skip(nn.Module):
    """The first and the last step both use an input whose node is not named after the parameter."""

    def forward(self, input: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        hidden = torch.relu(input)
        moved = torch.sub(hidden * scale, shift)
        return torch.add(input, torch.tanh(moved))


class Layered(nn.Module):
    """A layer, methods and functions, with a value used by keyword, and two in a list; the last step has no users, and
    only `output` uses the step before it.
    """

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, features: Tensor, gate: Tensor, shift: Tensor) -> Tensor:
        normed = self.norm(features)
        mixed = torch.mul(normed, other=gate.sigmoid())
        result = torch.stack([mixed, shift]).tanh()
        gate.exp()
        return result


_SHAPES = [(ROWS, WIDTH)] * 3
_FREEING, _HOARDING, _COLLECTING, _DROPPING, _LATE = (
    with_inputs(*_SHAPES, kind=kind) for kind in (fx.Interpreter, Hoarding, Collecting, Dropping, Late)
)
_EDITED = with_inputs(*_SHAPES, kind=Hoarding, edited=True)

USAGE = Usage(
    "compute",
    cases=(
        Case("the gated mix", Mixed, tuple, given=_FREEING),
        Case("the gated mix, with every value kept", Mixed, tuple, given=_HOARDING),
        Case("values without users", Unused, tuple, unseen=True, given=_FREEING),
        Case("an input that the last step uses, in an edited graph", Skip, tuple, unseen=True, given=_EDITED),
        Case("a layer and methods", Layered, tuple, unseen=True, given=_HOARDING),
        Case("results kept in a list", Mixed, tuple, unseen=True, given=_COLLECTING),
        Case("results kept for one node longer", Skip, tuple, unseen=True, given=_LATE),
        Case("values without users, freed at once", Unused, tuple, unseen=True, given=_DROPPING),
    ),
    call=without_gradients,
)
