"""Models with values that have no users, are changed in place, or are used in lists."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import Mixed, Nested, Residual, Unused
from ..watched_run.cases import forget_steps, inputs_of, random_inputs, run_watched, with_inputs_of_its_own


class InPlace(nn.Module):
    """A value is changed in place; the in-place call returns the same tensor, and nothing uses that result."""

    def forward(self, features: Tensor, bias: Tensor) -> Tensor:
        hidden = torch.exp(features)
        hidden.add_(bias)
        squared = torch.square(hidden)
        return torch.tanh(squared).neg()


class UnusedTwice(nn.Module):
    """Two inputs and the result of a module, without users; the last input has a default."""

    def __init__(self) -> None:
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, mask: Tensor, features: Tensor, names: Tensor | None = None) -> Tensor:
        hidden = torch.exp(features)
        self.act(hidden)
        return torch.tanh(hidden)


class Edited(Residual):
    """The same model; its graph is edited, so that the users of a value are not in list order."""


def call_boxed_run(answer: Callable[..., Any], model: nn.Module, tensors: list[Tensor]) -> dict[str, Any]:
    """Call ``boxed_run`` on an instance of the class, and on an instance that has already run."""
    if not callable(answer):
        raise TypeError("pass the class itself, by its name, without ()")

    def use(traced: fx.GraphModule, passed: list[Tensor]) -> Callable[[], Any]:
        runner = answer(traced)
        return lambda: runner.boxed_run(passed)

    def use_again(traced: fx.GraphModule, passed: list[Tensor]) -> Callable[[], Any]:
        runner = answer(traced)
        runner.boxed_run(random_inputs(len(passed)))
        forget_steps(traced)
        return lambda: runner.boxed_run(passed)

    edited, copies = isinstance(model, Edited), [tensor.clone() for tensor in tensors]
    observed = run_watched(use, model, tensors, edited=edited)
    if "steps" not in observed:
        return observed
    try:
        again: Any = run_watched(use_again, model, copies, edited=edited)
    except Exception as error:
        again = f"{type(error).__name__}: {error}".partition("\n")[0]
    return {**observed, "taken": _lengths_taken(answer, model), "again": again}


def _lengths_taken(answer: Callable[..., Any], model: nn.Module) -> list[int]:
    """Which of the two wrong lengths, one more or one fewer than the inputs, raise no error."""
    taken, inputs = [], inputs_of(model)
    for length in (inputs + 1, inputs - 1):
        with contextlib.suppress(Exception), torch.no_grad():
            answer(fx.symbolic_trace(model)).boxed_run(random_inputs(length))
            taken.append(length)
    return taken


USAGE = Usage(
    "compute",
    cases=(
        Case("values without users", Unused, tuple),
        Case("the gated mix", Mixed, tuple),
        Case("inputs and a result without users", UnusedTwice, tuple, unseen=True),
        Case("a value changed in place", InPlace, tuple, unseen=True),
        Case("a residual, and an input that is returned", Residual, tuple, unseen=True),
        Case("values used in lists and by keyword", Nested, tuple, unseen=True),
        Case("an edited graph, whose users are in another order", Edited, tuple, unseen=True),
    ),
    given=with_inputs_of_its_own,
    call=call_boxed_run,
)
