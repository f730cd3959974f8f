"""Models, and constants that replace some of their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

from fxbook.cases import Case, Usage

from ..cases import Weighting, mask, no_interpreter, table


class Listing(nn.Module):
    """Returns its inputs by name, so that a report can say which value each input got."""

    def forward(self, rows: Any, mask: Any, sharpness: Any = 1.0, input: Any = None) -> dict[str, Any]:
        return {"rows": rows, "mask": mask, "sharpness": sharpness, "input": input}


class Scaled(nn.Module):
    """A layer has the name of one input, and a parameter has the name of the other."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.scaled = nn.Linear(4, 4), nn.Parameter(torch.randn(4))

    def forward(self, scaled: Any, scale: Any) -> Any:
        return self.scale(scaled + self.scaled) * scale


def to_replace(replacing: dict[str, Any], *values: Any) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Pass the traced model, the constants by input name, and the values for the other inputs."""
    return lambda model: (fx.symbolic_trace(model), replacing, values)


def used_twice(answer: Any, traced: fx.GraphModule, replacing: dict[str, Any], values: tuple[Any, ...]) -> Any:
    """Run the learner's interpreter twice; the second run gets the values in reverse order."""
    if problem := no_interpreter(answer):
        return {"problem": problem}
    runner = answer(traced, replacing)
    with torch.no_grad():
        try:
            return {"first": runner.run(*values), "second": runner.run(*values[::-1])}
        except StopIteration:
            return {"stopped": True}


USAGE = Usage(
    "compute",
    cases=(
        Case("a model that returns its inputs", Listing, tuple),
        Case("the second of its inputs", Listing, tuple, given=to_replace({"mask": "mask"}, "rows")),
        Case("the model of the chapter", Weighting, tuple, given=to_replace({"mask": mask()}, table())),
        Case("two inputs of four", Listing, tuple, True, to_replace({"rows": 1, "input": 4}, 2, 3)),
        Case(
            "an input that is used twice",
            Weighting,
            tuple,
            True,
            to_replace({"rows": table(), "names": "names"}, mask()),
        ),
        Case(
            "a layer with the name of an input",
            Scaled,
            tuple,
            True,
            to_replace({"scale": torch.ones(4).double()}, table()),
        ),
        Case("a parameter with the name of an input", Scaled, tuple, True, to_replace({"scaled": table()}, 2.0)),
        Case("an input that has a default", Listing, tuple, True, to_replace({"sharpness": 3}, 1, 2)),
        Case("an input after one that the caller leaves out", Listing, tuple, True, to_replace({"input": 4}, 1, 2)),
        Case("a constant that counts as false", Listing, tuple, True, to_replace({"rows": 0.0, "input": False}, 2, 3)),
        Case("the constant None", Listing, tuple, True, to_replace({"sharpness": None, "mask": 2}, 1, 4)),
    ),
    given=to_replace({"rows": "rows"}, "mask", "sharpness"),
    call=used_twice,
)
