"""Models whose inputs are passed by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import Mixed, Nested, Residual
from ..watched_run.cases import run_watched, with_inputs_of_its_own


class Shifted(nn.Module):
    """Inputs that are not in alphabetical order; the node of one is not named after the parameter; one is unused."""

    def forward(self, weight: Tensor, input: Tensor, shift: Tensor, bias: Tensor, unused: Tensor) -> Tensor:
        scaled = torch.mul(torch.sub(input, shift), weight)
        return torch.tanh(scaled + bias)


def call_by_name(answer: Callable[..., Any], model: nn.Module, tensors: list[Tensor]) -> dict[str, Any]:
    """Run the model through a function that takes the module and a dict of inputs."""
    return run_watched(
        lambda traced, named: lambda: answer(traced, named),
        model,
        tensors,
        by_name=True,
        edited=isinstance(model, Nested),
    )


USAGE = Usage(
    "compute",
    cases=(
        Case("the gated mix", Mixed, tuple),
        Case("a residual, and an input that is returned", Residual, tuple, unseen=True),
        Case("values used in lists and by keyword", Nested, tuple, unseen=True),
        Case("five inputs, one unused and one called `input`", Shifted, tuple, unseen=True),
    ),
    given=with_inputs_of_its_own,
    call=call_by_name,
)
