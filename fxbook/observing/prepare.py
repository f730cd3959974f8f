"""Make everything that an answer will be used on, before the answer is loaded, and hide where it came from.

The judge compares data that an answer returns with what it computes itself for the same cases. Anyone who knows the
seed can recreate the cases. So they are made first, in a shuffled order, and the result contains neither the seed nor
the name of a case. In a sandbox this happens before any untrusted file is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from torch import fx, nn
from torch.utils import _pytree as pytree

from fxbook.cases.exercise import Case, Exercise, Use, drawn_order, model_of, seed_of
from fxbook.graph.given import Given

ORIGIN = "fxbook_origin"


class Probe(NamedTuple):
    """Where to record the values of the nodes: the index of a case in the exercise, and the draw of its inputs."""

    case: int
    draw: int


@dataclasses.dataclass(frozen=True)
class Tried:
    """What is needed to run an answer's graph in one case, and to recognise the given nodes.

    ``root`` is the module that a bare graph runs in, ``weights`` is what :func:`weights_of` returns, and ``origins``
    maps the identity of each given node to its index. ``kept`` is set if the graph must be rebuildable from data;
    ``probe`` says which draw of inputs to use when recording the nodes' values.
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
    """The arguments of an answer in one case, the model among them, and ``tried`` if the answer makes a graph.

    ``models`` holds the earlier states of all models among the arguments; ``before`` is the first of these.
    """

    arguments: tuple[Any, ...]
    given: nn.Module | None
    before: Given | None
    tried: Tried | None
    models: tuple[Given, ...] = ()


@dataclasses.dataclass(frozen=True)
class Prepared:
    """What an observation needs from an exercise: no case names, and no seed if the answer is data.

    It serves one answer only, which may change its arguments.
    """

    id: str
    use: Use
    call: Callable[..., Any] | None
    cases: tuple[PreparedCase, ...]


def prepare(exercise: Exercise, seed: int, *, rebuildable: bool = False, probe: Probe | None = None) -> Prepared:
    """Make the cases of an exercise, in the order in which an answer meets them.

    Args:
        seed: chooses weights, inputs and everything else that a case draws; the judge needs the same seed. If the
            answer is data, the result does not contain it.
        rebuildable: also describe each graph as data to rebuild it from, as ``"wire"`` in its case.
        probe: the case in which to record the values of the nodes, as ``"inside"``.
    """
    order = drawn_order(exercise, seed)
    draws = {probe.case: probe.draw} if probe else {}
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
    """The names of parameters and buffers by object identity; the last module's names win."""
    return {id(held): name for module in modules for name, held in named(module)}


def named(module: nn.Module) -> list[tuple[str, Any]]:
    return [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]


def _mark(graph: fx.Graph) -> dict[int, int]:
    """Number the nodes of the given graph. A copy of a node carries its ``meta``, and so its number."""
    marked = {}
    for index, node in enumerate(graph.nodes):
        node.meta[ORIGIN] = index
        marked[id(node)] = index
    return marked
