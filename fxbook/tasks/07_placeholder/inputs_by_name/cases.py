"""Models, example inputs for them, and calls by name whose inputs are right or wrong."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import Reserved, Weighting, mask_of, no_interpreter, table


@dataclasses.dataclass(frozen=True)
class Situation:
    """The inputs of one call by name, and their description after "With" in a report: ``"a mask of booleans"``."""

    name: str
    values: dict[str, Any]


class WeightingByName(Weighting):
    """The model of the chapter, with the inputs of each call."""

    def examples(self) -> dict[str, Any]:
        return {"rows": torch.zeros(5, 4), "mask": torch.zeros(5, 1)}

    def situations(self) -> tuple[Situation, ...]:
        rows, mask = table(), mask_of(True, False, True, True, False)
        return (
            Situation("the required inputs", {"rows": rows, "mask": mask}),
            Situation("`mask` before `rows`", {"mask": mask, "rows": rows}),
            Situation("a value for `sharpness`", {"rows": rows, "sharpness": 3.0, "mask": mask}),
            Situation("`names`, and `sharpness` left out", {"rows": rows, "mask": mask, "names": ["a"]}),
            Situation("a `mask` of shape (5,)", {"rows": rows, "mask": mask.squeeze(1)}),
            Situation("a `mask` of booleans", {"rows": rows, "mask": mask == 0}),
            Situation("`rows` and `mask` both wrong", {"rows": torch.zeros(7, 4), "mask": mask == 0}),
            Situation("a `mask` of another shape and dtype", {"rows": rows, "mask": mask.squeeze(1) == 0}),
            Situation("no `mask`", {"rows": rows}),
            Situation("`msak` in place of `mask`", {"rows": rows, "msak": mask}),
            Situation("an unknown input", {"rows": rows, "mask": mask, "weights": mask}),
            Situation("a str for `mask`", {"rows": rows, "mask": "all"}),
            Situation("None for `mask`", {"rows": rows, "mask": None}),
            Situation("two unknown inputs", {"rows": rows, "mask": mask, "weights": mask, "bias": mask}),
            Situation("the name of a layer, `score`", {"rows": rows, "mask": mask, "score": mask}),
            Situation("no input at all", {}),
            Situation("an nn.Parameter for `mask`", {"rows": rows, "mask": nn.Parameter(mask, requires_grad=False)}),
            Situation("an nn.Parameter of shape (5,) for `mask`", {"rows": rows, "mask": nn.Parameter(mask[:, 0])}),
            Situation("the required inputs, after all these errors", {"rows": rows, "mask": mask}),
        )


class ReservedByName(Reserved):
    """A model in which some nodes differ in name from their parameters, with the inputs of each call."""

    def examples(self) -> dict[str, Any]:
        return {"input": torch.zeros(5, 4), "unread": torch.zeros(2, dtype=torch.int64), "len": torch.zeros(5, 1)}

    def situations(self) -> tuple[Situation, ...]:
        rows, unread, length = table(), torch.arange(2), torch.ones(5, 1)
        good = {"len": length, "unread": unread, "input": rows}
        return (
            Situation("parameters called `input` and `len`", good),
            Situation("an `input` of float64", good | {"input": rows.double()}),
            Situation("no `unread`", {"len": length, "input": rows}),
            Situation("the name of a node, `input_1`", good | {"input_1": rows}),
            Situation("four faults", {"len": length.int(), "input": rows[:, :1], "scales": 2.0}),
            Situation("a value for `scale`, which has no example", good | {"scale": "any"}),
        )


class Echo(nn.Module):
    """Returns its inputs; some of them have defaults that count as true."""

    def forward(self, rows: Tensor, weight: Any, scale: Any = 1.0, names: Any = "all") -> tuple[Any, ...]:
        return rows, weight, scale, names

    def examples(self) -> dict[str, Any]:
        return {"rows": torch.zeros(5, 4), "scale": 1.0, "names": None}

    def situations(self) -> tuple[Situation, ...]:
        good = {"rows": table(), "weight": 2.0}
        return (
            Situation("`scale` and `names` left out", good),
            Situation("0.0 for `scale`", good | {"scale": 0.0}),
            Situation("None for `names`", good | {"names": None}),
            Situation("None for `weight`, which has no default", good | {"weight": None}),
            Situation("0.0 for `weight`, which has no default", good | {"weight": 0.0}),
            Situation("False for `scale` and an empty list for `names`", good | {"scale": False, "names": []}),
        )


class Both(nn.Module):
    """No input has a default."""

    def forward(self, rows: Tensor, weight: Tensor) -> Tensor:
        return rows - weight

    def examples(self) -> dict[str, Any]:
        return {"rows": torch.zeros(5, 4), "weight": torch.zeros(4)}

    def situations(self) -> tuple[Situation, ...]:
        rows, weight = table(), torch.arange(4.0)
        return (
            Situation("`rows` and `weight`", {"rows": rows, "weight": weight}),
            Situation("no `rows`", {"weight": weight}),
            Situation("no `weight`", {"rows": rows}),
            Situation("a `weight` of shape (1,)", {"rows": rows, "weight": weight[:1]}),
        )


class Partial(nn.Module):
    """The inputs with a default have examples; a required input has none."""

    def forward(self, table: Tensor, weight: Any, scale: float = 1.0, shift: Any = 0.0) -> Tensor:
        return table * weight * scale + shift

    def examples(self) -> dict[str, Any]:
        return {"table": torch.zeros(5, 4), "scale": 2.0, "shift": nn.Parameter(torch.zeros(4))}

    def situations(self) -> tuple[Situation, ...]:
        good = {"weight": torch.arange(4.0), "table": table()}
        return (
            Situation("`scale` and `shift` left out, which have defaults and examples", good),
            Situation("a number for `scale` that is not its example", good | {"scale": 3.0}),
            Situation("a number for `weight`, which has no example", good | {"weight": 2.0}),
            Situation("no `weight`, which has no example", {"table": table()}),
            Situation("a `shift` of shape (5,)", good | {"shift": torch.ones(5)}),
        )


def uses_by_name(model: nn.Module) -> tuple[Any, ...]:
    """Pass the traced model, its example inputs, and the inputs of each call."""
    return fx.symbolic_trace(model), model.examples(), [situation.values for situation in model.situations()]


def used_by_name(
    answer: Any, traced: fx.GraphModule, examples: dict[str, Any], uses: list[dict[str, Any]]
) -> dict[str, Any]:
    """What the learner's interpreter does in each call: its result or error, and how many layers had run by then."""
    if problem := no_interpreter(answer):
        return {"problem": problem}
    if "run_by_name" not in dir(answer):
        return {"problem": f"The class `{answer.__name__}` has no method `run_by_name`"}
    called: list[int] = []
    counting = [layer.register_forward_hook(lambda *_: called.append(1)) for layer in traced.children()]
    runner = answer(traced, examples)
    observations = []
    for values in uses:
        called.clear()
        try:
            with torch.no_grad():
                observations.append({"returned": runner.run_by_name(**values), "ran": len(called)})
        except Exception as error:
            # A subclass of ValueError counts, too.
            raised = "ValueError" if isinstance(error, ValueError) else type(error).__name__
            observations.append({"raised": raised, "message": str(error)[:2000], "ran": len(called)})
    for hook in counting:
        hook.remove()
    return {"uses": observations}


USAGE = Usage(
    "compute",
    cases=(
        Case("the model of the chapter", WeightingByName, tuple),
        Case("parameters named like builtins, one without users", ReservedByName, tuple, unseen=True),
        Case("examples only for the inputs with defaults", Partial, tuple, unseen=True),
        Case("a model that returns its inputs, some of which count as false", Echo, tuple, unseen=True),
        Case("a model whose inputs are all required", Both, tuple, unseen=True),
    ),
    given=uses_by_name,
    call=used_by_name,
)
