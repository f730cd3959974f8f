"""Find the first node of an edited graph whose value is not what it should be.

A given node must compute what it computed before or, if the exercise expects other outputs, what it computes in a trace
of the expected function. Nothing is known about new nodes or graphs built from scratch. Only nodes that feed the wrong
output count, since other nodes' values may differ.
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
    """A node whose value is wrong; ``differs`` says how, with numbers if there are any."""

    node: NodeRecord
    differs: str


def first_divergence(
    trial: Trial, graph: GraphRecord, origins: Sequence[int | None], found: Sequence[Value], draw: int
) -> FirstDivergence | None:
    """The first wrong node between the inputs and the output of an answer's graph, or ``None`` if none is known.

    ``found`` are the values of the graph's nodes on a ``draw`` of inputs; for ``origins`` see
    :class:`fxbook.rules.view.Claims`.
    """
    if trial.exercise.usage.use not in ("edit", "pass") or len(found) != len(graph):
        return None
    try:
        asked, given = _asked(trial, draw), trial.before
    except Exception:
        # The expected function, or the model itself, may not be traceable; then nothing is known about nodes.
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
    """Pair each node with the given node that it is or was copied from.

    If no node has a known origin, pair nodes of the same name and opcode.
    """
    if any(origin is not None for origin in origins):
        for node, origin in zip(graph, origins, strict=False):
            if origin is not None and 0 <= origin < len(before):
                yield node, before.nodes[origin]
        return
    named = {(node.name, node.op): node for node in before}
    yield from ((node, named[node.name, node.op]) for node in graph if (node.name, node.op) in named)


def _reached(graph: GraphRecord, differing: dict[int, str | None]) -> set[int]:
    waiting = [node.index for node in graph if node.op == "output"]
    reached: set[int] = set()
    while waiting:
        for index in graph.nodes[waiting.pop()].inputs:
            if index not in reached and differing.get(index, "unknown"):
                reached.add(index)
                waiting.append(index)
    return reached


def _asked(trial: Trial, draw: int) -> dict[int, Value]:
    """The expected values of the given nodes, by index, where they are known.

    Raises if the expected function cannot be traced, or run node by node.
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
    def __init__(self, model: nn.Module, expected: Callable[..., Any]) -> None:
        super().__init__()
        self.model, self.expected = model, expected


def _traced_as_asked(exercise: Exercise, model: nn.Module, inputs: Inputs) -> fx.GraphModule:
    """Trace the expected function as a forward with one parameter per input; raises if it cannot be traced."""
    if len(inputs) > _MOST_INPUTS:
        raise ValueError("too many inputs")
    names = ", ".join(f"input_{place}" for place in range(len(inputs)))
    scope: dict[str, Any] = {}
    exec(f"def forward(self, {names}): return self.expected(self.model, {names})", scope)
    root = type("Asked", (_Asked,), {"forward": scope["forward"]})(model, exercise.check.expected)
    return fx.GraphModule(root, fx.Tracer().trace(root))


def _alike(given: fx.Graph, asked: fx.Graph) -> Iterator[tuple[int, int]]:
    """Pair the nodes of two graphs that make the same call, if that call occurs equally often in both."""
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
