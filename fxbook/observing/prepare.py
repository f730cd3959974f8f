"""Before a check has the answer: make all that the answer will be used on, and keep nothing of where it came from.

What an answer returns that is data is compared with what the judge computes of the same cases. Whoever knows the seed
can make the cases, too; so they are made first, in an order of their own, and what remains has neither the seed nor a
name of a case. In a sandbox this is done before anything of a stranger is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from torch import fx, nn
from torch.utils import _pytree as pytree

from fxbook.cases.exercise import Case, Exercise, Use, drawn_order, model_of, seed_of
from fxbook.graph.given import Given
from fxbook.observing import waiting

ORIGIN = "fxbook_origin"


class Probe(NamedTuple):
    """Where in a graph the values are asked for: the place of a case in the exercise, and the draw of its inputs."""

    case: int
    draw: int


@dataclasses.dataclass(frozen=True)
class Tried:
    """What it takes to run the graph that an answer makes in one case, and to know again what it was given.

    ``root`` is what a bare graph runs in, ``weights`` are as :func:`weights_of` gives them, ``origins`` the places of
    the nodes that were given, by identity; ``kept`` is there where the graph is to be told as data, and ``probe``
    is the draw of inputs on which the values of its nodes are to be told.
    """

    case: Case
    seed: int
    root: nn.Module
    weights: dict[int, str]
    origins: dict[int, int]
    kept: Given | None
    probe: int | None = None


@dataclasses.dataclass(frozen=True)
class PreparedCase:
    """What the answer is called with, the model among that, as it was before; ``tried`` where a graph is asked.

    ``models`` are all models among the arguments, as they were; ``before`` is that of the first.
    """

    arguments: tuple[Any, ...]
    given: nn.Module | None
    before: Given | None
    tried: Tried | None
    models: tuple[Given, ...] = ()


@dataclasses.dataclass(frozen=True)
class Prepared:
    """What an observation needs of an exercise: no name of a case, and no seed where the answer is data.

    It is for one answer, which may change what it is given.
    """

    id: str
    use: Use
    call: Callable[..., Any] | None
    cases: tuple[PreparedCase, ...]


def prepare(exercise: Exercise, seed: int, *, rebuildable: bool = False, probe: Probe | None = None) -> Prepared:
    """Make the cases of an exercise, in the order in which an answer is to meet them.

    Args:
        exercise: how an answer is used.
        seed: chooses weights, inputs and all else that a case draws; the judge needs the same. Of an exercise whose
            answer is data nothing that is returned holds it.
        rebuildable: have each graph told also as what it can be built again from, as ``"wire"`` of its case.
        probe: have the values of the nodes told there, as ``"inside"`` of the case.

    Raises:
        Exception: whatever a case raises; those of the book raise nothing.
    """
    order = drawn_order(exercise, seed)
    draws = {probe.case: probe.draw} if probe else {}
    with waiting.told():
        cases = tuple(
            _prepared(exercise, exercise.usage.cases[index], seed_of(seed, index), rebuildable, draws.get(index))
            for index in order
        )
    return Prepared(exercise.id, exercise.usage.use, exercise.usage.call, cases)


def _prepared(exercise: Exercise, case: Case, seed: int, rebuildable: bool, probe: int | None) -> PreparedCase:
    model = model_of(case, seed)
    arguments = exercise.usage.arguments(case, model, seed)
    given = next((item for item in arguments if isinstance(item, nn.Module)), None)
    models = tuple(Given(item) for item in pytree.tree_leaves(arguments) if isinstance(item, nn.Module))
    before = next((model for model in models if model.root is given), None)
    tried = None
    if exercise.usage.use != "compute":
        root = given if given is not None else model
        kept = (before or Given(root)) if rebuildable else None
        origins = _mark(given.graph) if isinstance(given, fx.GraphModule) else {}
        tried = Tried(case, seed, root, weights_of(model, root), origins, kept, probe)
    return PreparedCase(arguments, given, before, tried, models)


def weights_of(*modules: nn.Module) -> dict[int, str]:
    """The names of parameters and buffers by the identity of the object; the last module's names count."""
    return {id(held): name for module in modules for name, held in named(module)}


def named(module: nn.Module) -> list[tuple[str, Any]]:
    """The parameters and buffers of a module by name, those of two names twice."""
    return [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]


def _mark(graph: fx.Graph) -> dict[int, int]:
    """Number the nodes of the graph given, so that they are known again; a copy of a node carries its ``meta`` too."""
    marked = {}
    for index, node in enumerate(graph.nodes):
        node.meta[ORIGIN] = index
        marked[id(node)] = index
    return marked
