"""How the answers of chapter 08 are used, in the learner's half: what they tell of a graph, and what a run shows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.checks.models_08 import draw, watched


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
