"""Calls in two spellings, and a submodule, an input and a parameter with the names of methods."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import Classifier, rows

SWAPS: dict[Any, Any] = {"relu": "tanh", torch.relu: torch.tanh}
OTHER_SWAPS: dict[Any, Any] = {
    "sin": "cos",
    "cos": "sin",
    "sigmoid": "tanh",
    "sum": "prod",
    torch.exp: torch.sin,
    torch.sub: torch.add,
    torch.add: torch.sub,
}


class NamedRelu(nn.Module):
    """Two calls to change in each spelling, one with a keyword; a submodule named ``relu``, which must stay."""

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        kept = self.relu(self.mix(x))
        functions = torch.relu(kept - 0.3) + torch.relu(input=kept - 0.6)
        return functions + (self.mix(kept) - 0.1).relu() + (kept - 0.2).relu()


class NamedAsMethods(nn.Module):
    """An input, a parameter and functions with the names of methods; names that begin alike; a dead call; ``sin_``.

    The dict exchanges two methods. ``torch.sub`` is a key of the dict, and uses a changed call by keyword; ``-``
    is not a key.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sigmoid = nn.Parameter(torch.rand(4) + 0.5)

    def forward(self, sin: Tensor) -> Tensor:
        scaled = sin * self.sigmoid + torch.cos(sin)
        scaled.sigmoid()
        changed = scaled.sin() - scaled.cos() + torch.exp(scaled) + scaled.sigmoid()
        changed = torch.sub(changed, other=scaled.sum(1, keepdim=True), alpha=3)
        return changed + scaled.sinh() + torch.exp2(scaled) + scaled.exp() + torch.sigmoid(scaled) + (-scaled).sin_()


def traced_and_a_different_dict(model: nn.Module) -> tuple[fx.GraphModule, dict[Any, Any]]:
    """The answer gets the traced model and a dict that the learner does not know."""
    return fx.symbolic_trace(model), dict(OTHER_SWAPS)


def traced_and_the_dict(model: nn.Module) -> tuple[fx.GraphModule, dict[Any, Any]]:
    """The answer gets the traced model and the dict from the task."""
    return fx.symbolic_trace(model), dict(SWAPS)


USAGE = Usage(
    "edit",
    cases=(
        Case("the classifier", Classifier, rows(4)),
        Case("a model with a submodule named `relu`", NamedRelu, rows(4), unseen=True),
        Case("a different dict", NamedAsMethods, rows(4), unseen=True, given=traced_and_a_different_dict),
    ),
    given=traced_and_the_dict,
)
