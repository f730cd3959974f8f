"""What the exercises of chapter 08 ask: which values are alive during a run, and an interpreter that lets them go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

from fxbook.asking.exercise import Case
from fxbook.asking.predicates import input_unchanged
from fxbook.checks.failures_08 import tells_failure
from fxbook.checks.legacy import Exercise
from fxbook.checks.models_08 import (
    WIDTH,
    Attention,
    Indexed,
    InPlace,
    Joined,
    Layered,
    Mixed,
    Nested,
    Residual,
    Skip,
    Typed,
    Unused,
    Weighted,
    draw,
    moved,
)
from fxbook.checks.properties_08 import (
    ends_at_last_reader,
    graph_left_alone,
    tells_needed,
    tells_unneeded,
)
from fxbook.checks.runs_08 import (
    keeps_to_env,
    let_go,
    list_is_empty,
    nothing_held_after,
    nothing_left,
    reads_what_was_handed_over,
    refuses_other_lengths,
    result_is_right,
)
from fxbook.checks.used_08 import call_boxed_run, call_by_name, told_of_graph, without_gradients


class Hoarding(fx.Interpreter):
    """An interpreter that keeps every value to the end of the run."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module, garbage_collect_values=False)


class Collecting(fx.Interpreter):
    """An interpreter that keeps every result, in a place that is not its ``env``."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module)
        self.results: list[Any] = []

    def run_node(self, n: fx.Node) -> Any:
        self.results.append(super().run_node(n))
        return self.results[-1]


# ---- what they are given ---------------------------------------------------------------------------------------------


def graph_of(model: nn.Module) -> tuple[fx.Graph]:
    return (fx.symbolic_trace(model).graph,)


def moved_graph_of(model: nn.Module) -> tuple[fx.Graph]:
    return (moved(model).graph,)


def with_inputs_of_its_own(model: nn.Module) -> tuple[Any, ...]:
    """The model and a list of inputs, which nothing else holds."""
    return model, draw(len(fx.symbolic_trace(model).graph.find_nodes(op="placeholder")))


def with_inputs(*shapes: tuple[int, ...], kind: type[fx.Interpreter] | None = None) -> Callable[[nn.Module], Any]:
    """The traced model and a list of inputs of these shapes, behind a class of interpreter if one is given."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        more = (fx.symbolic_trace(model), [torch.randn(shape) for shape in shapes])
        return more if kind is None else (kind, *more)

    return given


def with_sizes(*letters: str) -> Callable[[nn.Module], Any]:
    """As :func:`with_inputs`, of shapes that are drawn: a letter is a size, ``w`` the width of the model.

    Different letters are different sizes.
    """

    def given(model: nn.Module) -> tuple[Any, ...]:
        others = sorted(set("".join(letters)) - {"w"})
        sizes = dict(zip(others, (torch.randperm(WIDTH - 2)[: len(others)] + 2).tolist(), strict=True)) | {"w": WIDTH}
        return with_inputs(*(tuple(sizes[letter] for letter in shape) for shape in letters))(model)

    return given


def none() -> tuple[()]:
    """No inputs: the answer gets them with the rest."""
    return ()


ROW = (4, 8)

EXERCISES = (
    Exercise(
        id="08-last-readers",
        use="compute",
        given=graph_of,
        call=told_of_graph,
        cases=(
            Case("the attention of the chapter", Attention, none),
            Case("values that no node reads", Unused, none),
            Case("values read in lists and by name", Nested, none, unseen=True),
            Case("a graph whose nodes were moved", Nested, none, unseen=True, given=moved_graph_of),
        ),
        properties=(ends_at_last_reader, graph_left_alone),
    ),
    Exercise(
        id="08-let-inputs-go",
        use="compute",
        given=with_inputs_of_its_own,
        call=call_by_name,
        cases=(
            Case("the gated mix", Mixed, none),
            Case("a residual, and an input that is returned", Residual, none, unseen=True),
        ),
        properties=(
            keeps_to_env,
            reads_what_was_handed_over,
            result_is_right,
            nothing_left,
            let_go,
            nothing_held_after,
        ),
    ),
    Exercise(
        id="08-where-it-failed",
        use="compute",
        call=without_gradients,
        cases=(
            Case("the attention, a wrong shape", Attention, none, given=with_sizes("aw", "bw", "cw")),
            Case("the attention, no mistake", Attention, none, given=with_sizes("aw", "bw", "bw")),
            Case("a wrong dtype", Typed, none, unseen=True, given=with_sizes("ab", "bc", "b")),
            Case("a wrong shape in a list", Joined, none, unseen=True, given=with_sizes("ab", "cd")),
            Case("a dimension too many", Indexed, none, unseen=True, given=with_sizes("ab")),
            Case("the attention, a wrong width", Attention, none, unseen=True, given=with_sizes("aw", "bc", "bw")),
            Case("two shapes in a list, no mistake", Joined, none, unseen=True, given=with_sizes("ab", "cb")),
        ),
        properties=(tells_failure, input_unchanged),
    ),
    Exercise(
        id="08-must-be-alive",
        use="compute",
        given=graph_of,
        call=told_of_graph,
        cases=(
            Case("the gated mix", Mixed, none),
            Case("the attention of the chapter", Attention, none),
            Case("a residual, and an input that is returned", Residual, none, unseen=True),
            Case("values that no node reads", Unused, none, unseen=True),
            Case("values read in lists and by name", Nested, none, unseen=True),
            Case("a graph whose nodes were moved", Nested, none, unseen=True, given=moved_graph_of),
            Case("a graph that fetches a weight", Weighted, none, unseen=True),
        ),
        properties=(tells_needed, graph_left_alone),
    ),
    Exercise(
        id="08-alive-without-need",
        use="compute",
        call=without_gradients,
        cases=(
            Case("the gated mix", Mixed, none, given=with_inputs(ROW, ROW, ROW, kind=fx.Interpreter)),
            Case("the gated mix, hoarded", Mixed, none, given=with_inputs(ROW, ROW, ROW, kind=Hoarding)),
            Case("values that no node reads", Unused, none, True, with_inputs(ROW, ROW, ROW, kind=fx.Interpreter)),
            Case("an input that the last node reads", Skip, none, True, with_inputs(ROW, ROW, ROW, kind=Hoarding)),
            Case("a layer and methods", Layered, none, True, with_inputs(ROW, ROW, ROW, kind=Hoarding)),
            Case("results kept in a list", Mixed, none, True, with_inputs(ROW, ROW, ROW, kind=Collecting)),
        ),
        properties=(
            tells_unneeded(
                {
                    fx.Interpreter: lambda node: not node.users,
                    Hoarding: lambda node: True,
                    Collecting: lambda node: node.op != "placeholder" or not node.users,
                }
            ),
            input_unchanged,
        ),
    ),
    Exercise(
        id="08-free-early",
        use="compute",
        given=with_inputs_of_its_own,
        call=call_boxed_run,
        cases=(
            Case("values that no node reads", Unused, none),
            Case("the gated mix", Mixed, none),
            Case("a value changed in place", InPlace, none, unseen=True),
            Case("a residual, and an input that is returned", Residual, none, unseen=True),
            Case("values read in lists and by name", Nested, none, unseen=True),
        ),
        properties=(
            keeps_to_env,
            reads_what_was_handed_over,
            result_is_right,
            list_is_empty,
            let_go,
            nothing_held_after,
            refuses_other_lengths,
        ),
    ),
)
