"""Which node of an edited graph is the first whose value is not what it should be, where that is known.

A node that was given computes what it computed before, or, where the exercise asks for other outputs, what it computes
in a trace of what is asked. Nothing is known of a node that is new, nor of a graph that was built from nothing.
Reports the first node whose value differs and that feeds the wrong output. Nodes that no wrong output reads may differ.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch import fx, nn

from fxbook.cases.exercise import Exercise, Inputs, inputs_of, model_of, same_as_eager, traced
from fxbook.cases.running import values_inside
from fxbook.cases.values import Value, difference
from fxbook.graph.naming import target_name
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.trial import Trial

_ENDS = ("placeholder", "output")
_MOST_INPUTS = 8


@dataclasses.dataclass(frozen=True)
class FirstDivergence:
    """A node whose value is not what it should be; ``differs`` says how, in numbers where there are some."""

    node: NodeRecord
    differs: str


def first_divergence(
    trial: Trial, graph: GraphRecord, origins: Sequence[int | None], found: Sequence[Value], draw: int
) -> FirstDivergence | None:
    """The first such node between the inputs and the output of an answer's graph; ``None`` where none is known.

    Args:
        trial: the case.
        graph: the answer's.
        origins: see :class:`fxbook.rules.view.Claims`.
        found: the value of each node of the graph.
        draw: of the inputs that these are values on.
    """
    if trial.exercise.usage.use not in ("edit", "pass") or len(found) != len(graph):
        return None
    try:
        asked, given = _asked(trial, draw), trial.before
    except Exception:
        # What is asked, or the model itself, need not be something that can be traced: nothing is known of nodes then.
        return None
    differing: dict[int, str | None] = {}
    for node, before in _pairs(graph, given, origins):
        if before.index in asked and found[node.index] is not None and node.op not in _ENDS:
            differing[node.index] = difference(found[node.index], asked[before.index])
    on_the_way = [index for index in _reached(graph, differing) if differing.get(index)]
    if not on_the_way:
        return None
    first = min(on_the_way)
    said = differing[first] or ""
    return FirstDivergence(graph.nodes[first], said.partition(": ")[2] or said)


def _pairs(
    graph: GraphRecord, before: GraphRecord, origins: Sequence[int | None]
) -> Iterator[tuple[NodeRecord, NodeRecord]]:
    """Each node with the one it was: the same one or a copy, else one of the same name and opcode."""
    if any(origin is not None for origin in origins):
        for node, origin in zip(graph, origins, strict=False):
            if origin is not None and 0 <= origin < len(before):
                yield node, before.nodes[origin]
        return
    named = {(node.name, node.op): node for node in before}
    yield from ((node, named[node.name, node.op]) for node in graph if (node.name, node.op) in named)


def _reached(graph: GraphRecord, differing: dict[int, str | None]) -> set[int]:
    """The nodes from which a wrong value may have come to the output: none behind a value that is right."""
    waiting = [node.index for node in graph if node.op == "output"]
    reached: set[int] = set()
    while waiting:
        for index in graph.nodes[waiting.pop()].inputs:
            if index not in reached and differing.get(index, "unknown"):
                reached.add(index)
                waiting.append(index)
    return reached


def _asked(trial: Trial, draw: int) -> dict[int, Value]:
    """What nodes of the graph given are to compute, by their index there, as far as it is known.

    Raises:
        Exception: what is asked cannot be traced, or run node by node.
    """
    inputs = inputs_of(trial.case, trial.seed)[draw]
    given = next((item for item in trial.start()[1] if isinstance(item, fx.GraphModule)), None)
    module = traced(model_of(trial.case, trial.seed))[0] if given is None else given
    if trial.exercise.check.expected is same_as_eager:
        return dict(enumerate(values_inside(module, inputs, trial.seed, draw)))
    asked = _traced_as_asked(trial.exercise, model_of(trial.case, trial.seed), inputs)
    values = values_inside(asked, inputs, trial.seed, draw)
    return {here: values[there] for here, there in _alike(module.graph, asked.graph)}


class _Asked(nn.Module):
    """The outputs that are asked for, as a module to trace."""

    def __init__(self, model: nn.Module, expected: Callable[..., Any]) -> None:
        super().__init__()
        self.model, self.expected = model, expected


def _traced_as_asked(exercise: Exercise, model: nn.Module, inputs: Inputs) -> fx.GraphModule:
    """A trace of what is asked; tracing needs a function with as many parameters as there are inputs.

    Raises:
        Exception: it cannot be traced.
    """
    if len(inputs) > _MOST_INPUTS:
        raise ValueError("too many inputs")
    names = ", ".join(f"input_{place}" for place in range(len(inputs)))
    scope: dict[str, Any] = {}
    exec(f"def forward(self, {names}): return self.expected(self.model, {names})", scope)
    root = type("Asked", (_Asked,), {"forward": scope["forward"]})(model, exercise.check.expected)
    return fx.GraphModule(root, fx.Tracer().trace(root))


def _alike(given: fx.Graph, asked: fx.Graph) -> Iterator[tuple[int, int]]:
    """The places of the nodes that do the same in two graphs: of a kind of call as often in one as in the other."""
    ours, theirs = _by_call(given, ""), _by_call(asked, "model.")
    for call, places in ours.items():
        if len(places) == len(theirs[call]):
            yield from zip(places, theirs[call], strict=True)


def _by_call(graph: fx.Graph, prefix: str) -> collections.defaultdict[tuple[str, str], list[int]]:
    found: collections.defaultdict[tuple[str, str], list[int]] = collections.defaultdict(list)
    for place, node in enumerate(graph.nodes):
        target = "" if node.op == "placeholder" else target_name(node)
        found[node.op, target.removeprefix(prefix) if node.op in ("call_module", "get_attr") else target].append(place)
    return found
