"""What the exercises of chapter 08 ask: which values are alive during a run, and an interpreter that lets them go."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.checks.exercise import Case, Exercise
from fxbook.checks.models_08 import (
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
    watched,
)
from fxbook.checks.predicates import input_unchanged
from fxbook.checks.properties_08 import (
    ends_at_last_reader,
    graph_left_alone,
    tells_failure,
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


# ---- how answers are used --------------------------------------------------------------------------------------------


def without_gradients(answer: Callable[..., Any], *arguments: Any) -> Any:
    """The answer's own result; autograd would keep values of the run alive."""
    with torch.no_grad():
        return _called(answer)(*arguments)


def told_of_graph(answer: Callable[..., Any], graph: fx.Graph) -> dict[str, Any]:
    """What the answer tells of a graph, and which of its nodes the answer has erased, rewired or moved."""
    before = _listing(graph)
    told = _called(answer)(graph)
    after = _listing(graph)
    changed = [name for name, row in before.items() if after.get(name) != row]
    if not changed and list(before) != list(after):
        changed = [next(new for new, old in zip(after, [*before, ""], strict=False) if new != old)]
    return {"told": told, "changed": changed}


def _listing(graph: fx.Graph) -> dict[str, str]:
    return {node.name: f"{node.op} {node.target} {node.args} {node.kwargs}" for node in graph.nodes}


def _called(answer: Callable[..., Any]) -> Callable[..., Any]:
    return answer() if isinstance(answer, type) else answer


def run_watched(
    use: Callable[[fx.GraphModule, Any], Callable[[], Any]],
    model: nn.Module,
    tensors: list[Tensor],
    by_name: bool = False,
) -> dict[str, Any]:
    """Run the watched graph of the model through the answer and write down what was alive, when.

    ``use`` takes the graph and the list (or a dict by the names of the inputs, in another order), and gives a function
    that runs them; what it holds stays alive after the run. Nothing but the list ``tensors`` holds the inputs.
    """
    traced, watch = watched(model)
    inputs = [node.name for node in traced.graph.find_nodes(op="placeholder")]
    for name, place in zip(inputs, range(len(tensors)), strict=True):
        watch.see(name, tensors[place])
    handed: Any = tensors
    if by_name:
        handed = {name: tensors.pop() for name in reversed(inputs)}
    with torch.no_grad():
        run = use(traced, handed)
        try:
            result = run()
        except KeyError as error:
            if not error.args or not isinstance(error.args[0], fx.Node):
                raise
            return {"not in env": error.args[0].name}
        # A copy, so that what is alive after the next lines is held by the answer.
        copied, left = _copied(result), len(handed)
        handed.clear()
        del result
    ran = {"steps": list(watch.steps), "astray": watch.astray[:1], "result": copied}
    return {**ran, "left": left, "held": watch.alive()}


def _copied(value: Any) -> Any:
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.clone(), value)


def call_by_name(answer: Callable[..., Any], model: nn.Module, tensors: list[Tensor]) -> dict[str, Any]:
    """For an answer that is a function of the module and a dict of inputs."""
    return run_watched(lambda traced, named: lambda: _called(answer)(traced, named), model, tensors, by_name=True)


def call_boxed_run(answer: Callable[..., Any], model: nn.Module, tensors: list[Tensor]) -> dict[str, Any]:
    """For an answer that is a class with ``boxed_run``."""
    if not callable(answer):
        raise TypeError("pass the class itself, by its name, without ()")

    def use(traced: fx.GraphModule, handed: list[Tensor]) -> Callable[[], Any]:
        runner = answer(traced)
        return lambda: runner.boxed_run(handed)

    ran = run_watched(use, model, tensors)
    if "steps" in ran:
        ran["taken"] = _lengths_taken(answer, model)
    return ran


def _lengths_taken(answer: Callable[..., Any], model: nn.Module) -> list[int]:
    """The lengths of a list, one item too short or too long, that the answer runs on without an error."""
    taken = []
    inputs = len(fx.symbolic_trace(model).graph.find_nodes(op="placeholder"))
    for length in (inputs + 1, inputs - 1):
        with contextlib.suppress(Exception), torch.no_grad():
            answer(fx.symbolic_trace(model)).boxed_run(draw(length))
            taken.append(length)
    return taken


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
            Case("the attention, a wrong shape", Attention, none, given=with_inputs(ROW, ROW, (5, 8))),
            Case("the attention, no mistake", Attention, none, given=with_inputs(ROW, ROW, ROW)),
            Case("a wrong dtype", Typed, none, unseen=True, given=with_inputs(ROW, (8, 3), (8,))),
            Case("a wrong shape in a list", Joined, none, unseen=True, given=with_inputs(ROW, (5, 7))),
            Case("a dimension too many", Indexed, none, unseen=True, given=with_inputs(ROW)),
        ),
        properties=(
            tells_failure(
                {
                    "the attention, a wrong shape": ("matmul_1", [(4, 4), (5, 8)]),
                    "the attention, no mistake": None,
                    "a wrong dtype": ("mm", [(4, 8), (8, 3)]),
                    "a wrong shape in a list": ("cat", [(4, 8), (5, 7)]),
                    "a dimension too many": ("sum_1", [(8,)]),
                }
            ),
            input_unchanged,
        ),
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
