"""What a pass changed, in three forms: for a test, as text, and as a picture."""

from __future__ import annotations

import dataclasses
import functools
import html

from torch import fx

from fxbook.graph.record import record
from fxbook.passes.comparing.matching import Pairs, matched
from fxbook.passes.comparing.nodes import Aspects, differing, fetched, joined, meta_differing, meta_of_all
from fxbook.passes.comparing.unified import unified
from fxbook.stepping.edit.rows import heaviest_rising
from fxbook.stepping.edit.snapshot import Snapshot, take
from fxbook.stepping.edit.stepper import play
from fxbook.stepping.player import Player

Traced = fx.Graph | fx.GraphModule


@dataclasses.dataclass(frozen=True, eq=False)
class Diff:
    """The differences between two graphs; true if there are any.

    At the end of a cell, it is shown as a stepper from one graph to the other; printed, it reads like a code review.

    Attributes:
        added: names of the nodes that only the second graph has, in list order.
        removed: names of the nodes that only the first graph has.
        changed: for each node that both have and that differs, by its name in the second graph: ``"name"``, ``"op"``,
            ``"target"``, ``"args"``, ``"kwargs"``, ``"module"`` (what is called or fetched) or ``"meta"``, each with
            its text before and after. Arguments that are paired nodes count as equal, whatever their names.
        moved: the nodes that both have but that were moved, by their names in the second graph.
        inside: the differences of nested graph modules, by the name of the node that calls them.
        pairs: the name in the first graph of each node that both have, by its name in the second.
        everywhere: by key, the differences in ``meta`` that all nodes of a larger graph share; ``changed`` does not
            repeat them.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: dict[str, Aspects]
    moved: tuple[str, ...]
    inside: dict[str, Diff]
    pairs: dict[str, str]
    everywhere: Aspects
    _snapshots: tuple[Snapshot, Snapshot] = dataclasses.field(repr=False)
    _same_object: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.moved or self.inside or self.everywhere)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def text(self, context: int = 2) -> str:
        """The change as text; removed lines start with ``-``, and added lines with ``+``.

        Args:
            context: how many unchanged nodes are shown on either side of a change.

        Example:
            >>> import copy, torch
            >>> from fxbook import diff
            >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
            >>> print(diff(module, copy.deepcopy(module)).text(context=0))
            no difference: 4 nodes alike
        """
        return unified(self, self._snapshots, context)

    def _repr_html_(self) -> str:
        parts = [self._player._repr_html_()]
        parts += [f"<p>{html.escape(line)}</p>" for line in self.lines_of_all()]
        for name, inner in self.inside.items():
            parts.append(f"<p>Inside <code>{html.escape(name)}</code>:</p>{inner._repr_html_()}")
        return "".join(parts)

    def lines_of_all(self) -> list[str]:
        return [f"meta of all nodes: {one} → {other}" for one, other in self.everywhere.values()]

    @functools.cached_property
    def _player(self) -> Player:
        if not self:
            return play("The graph, before and after", self._snapshots[1:])
        return play("The graph, before and after", self._snapshots)


def diff(before: Traced, after: Traced, *, meta: bool = True) -> Diff:
    """Compare two graphs without changing them.

    Most passes edit in place, so keep a copy: ``before = copy.deepcopy(module)``.

    Args:
        before: a graph, or a module with one.
        after: the graph to compare with it.
        meta: whether a difference in ``node.meta`` counts.

    Returns:
        What differs. Nodes are paired by what they compute, by how they are used, and by name.

    Raises:
        TypeError: an argument is not a graph; the message says what to pass.

    Example:
        >>> import copy, torch
        >>> from fxbook import diff
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> before = copy.deepcopy(module)
        >>> relu = next(node for node in module.graph.nodes if node.target is torch.relu)
        >>> relu.target = torch.tanh
        >>> changes = diff(before, module)
        >>> changes.changed
        {'relu': {'target': ('torch.relu', 'torch.tanh')}}
        >>> print(changes)
        1 changed; of 4 nodes
          input x
        - relu = torch.relu(x)
        + relu = torch.tanh(x)
          add = operator.add(relu, 1)
          return add
    """
    keys: dict[fx.Node, int] = {}
    was = _snapshot(before, "Before", keys)
    pairs = matched(was.record, record(after))
    old, new = _nodes(before), _nodes(after)
    if _graph(before) is not _graph(after):
        keys |= {new[b]: was.keys[a] for a, b in pairs.items()}
    now = _snapshot(after, "After", keys)
    found, inside = {}, {}
    ordered = sorted(pairs.items(), key=lambda pair: pair[1])
    metas = {b: meta_differing(old[a], new[b]) if meta else {} for a, b in ordered}
    everywhere = meta_of_all([(new[b], differs) for b, differs in metas.items()])
    for a, b in ordered:
        aspects = differing((old[a], was.record.nodes[a]), (new[b], now.record.nodes[b]), pairs)
        if own := {key: texts for key, texts in metas[b].items() if key not in everywhere}:
            aspects["meta"] = joined(own)
        if aspects:
            found[new[b].name] = aspects
        if inner := _inside(old[a], new[b], meta):
            inside[new[b].name] = inner
    taken = set(pairs.values())
    return Diff(
        added=tuple(node.name for at, node in enumerate(new) if at not in taken),
        removed=tuple(node.name for at, node in enumerate(old) if at not in pairs),
        changed=found,
        moved=tuple(new[at].name for at in _moved(pairs)),
        inside=inside,
        pairs={new[b].name: old[a].name for a, b in pairs.items()},
        everywhere=everywhere,
        _snapshots=(was, now),
        _same_object=_graph(before) is _graph(after),
    )


def _graph(traced: Traced) -> fx.Graph:
    return traced.graph if isinstance(traced, fx.GraphModule) else traced


def _nodes(traced: Traced) -> list[fx.Node]:
    return list(_graph(traced).nodes)


def _snapshot(traced: Traced, caption: str, keys: dict[fx.Node, int]) -> Snapshot:
    # The sort keys that torch.fx gives to nodes are not comparable between two graphs.
    snapshot = take(traced, caption, keys)
    return dataclasses.replace(snapshot, places=(None,) * len(snapshot.keys))


def _inside(was: fx.Node, now: fx.Node, meta: bool) -> Diff | None:
    old, new = fetched(was), fetched(now)
    if not isinstance(old, fx.GraphModule) or not isinstance(new, fx.GraphModule) or old is new:
        return None
    return diff(old, new, meta=meta) or None


def _moved(pairs: Pairs) -> list[int]:
    """The smallest set of paired nodes that must have been moved, by index in the second graph."""
    order = [a for a, b in sorted(pairs.items(), key=lambda pair: pair[1])]
    stay = set(heaviest_rising(order, [1.0] * len(order)))
    return [pairs[a] for at, a in enumerate(order) if at not in stay]
