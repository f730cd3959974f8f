"""Models with values that have no users, are changed in place, or are used in lists."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import Mixed, Nested, Residual, Unused
from ..watched_run.cases import draw, inputs_of, run_watched, with_inputs_of_its_own


class InPlace(nn.Module):
    """A value changed in place: the change returns the value itself, and that result has no users."""

    def forward(self, features: Tensor, bias: Tensor) -> Tensor:
        hidden = torch.exp(features)
        hidden.add_(bias)
        squared = torch.square(hidden)
        return torch.tanh(squared).neg()


class UnusedTwice(nn.Module):
    """Two inputs without users."""

    def forward(self, mask: Tensor, features: Tensor, names: Tensor) -> Tensor:
        return torch.tanh(torch.exp(features))


class Edited(Residual):
    """A residual whose graph was edited: the users of a value are in a different order from the list."""


def call_boxed_run(answer: Callable[..., Any], model: nn.Module, tensors: list[Tensor]) -> dict[str, Any]:
    """Run through ``boxed_run`` of an instance of the class."""
    if not callable(answer):
        raise TypeError("pass the class itself, by its name, without ()")

    def use(traced: fx.GraphModule, handed: list[Tensor]) -> Callable[[], Any]:
        runner = answer(traced)
        return lambda: runner.boxed_run(handed)

    observed = run_watched(use, model, tensors, edited=isinstance(model, Edited))
    return {**observed, "taken": _lengths_taken(answer, model)} if "steps" in observed else observed


def _lengths_taken(answer: Callable[..., Any], model: nn.Module) -> list[int]:
    """The lengths of a list, one item too long or too short, that the answer runs on without an error."""
    taken = []
    inputs = inputs_of(model)
    for length in (inputs + 1, inputs - 1):
        with contextlib.suppress(Exception), torch.no_grad():
            answer(fx.symbolic_trace(model)).boxed_run(draw(length))
            taken.append(length)
    return taken


USAGE = Usage(
    "compute",
    cases=(
        Case("values without users", Unused, tuple),
        Case("the gated mix", Mixed, tuple),
        Case("two inputs without users", UnusedTwice, tuple, unseen=True),
        Case("a value changed in place", InPlace, tuple, unseen=True),
        Case("a residual, and an input that is returned", Residual, tuple, unseen=True),
        Case("values used in lists and by name", Nested, tuple, unseen=True),
        Case("a graph that was edited, its users in another order", Edited, tuple, unseen=True),
    ),
    given=with_inputs_of_its_own,
    call=call_boxed_run,
)
