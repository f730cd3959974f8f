"""What a rule reads: one case of one observation, and what the model itself computes."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Callable, Collection, Iterator
from typing import Any

from torch import nn

from fxbook.cases.exercise import Case, Exercise
from fxbook.cases.values import Value
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.divergence import FirstDivergence, first_divergence
from fxbook.rules.trial import Trial


@dataclasses.dataclass(frozen=True)
class Claims:
    """What only the process that runs the answer can know about the answer; see :data:`classroom.judge.claims.CLAIMS`.

    Args:
        value: what a ``compute`` answer returned.
        stale: whether the module's code is that of an earlier graph.
        shared: for each parameter and buffer of the result, its name in the given model if it is the same object, else
            ``None``.
        changes: how the given model was changed, in words.
        same_object: whether the result is the object that was given.
        left: side effects that no exercise asks for, in words.
        origins: for each node, the index of the node of the given graph that it is or was copied from, else ``None``.
    """

    value: Value
    stale: bool
    shared: dict[str, str | None]
    changes: list[str]
    same_object: bool
    origins: list[int | None]
    left: list[str] = dataclasses.field(default_factory=list)


def nothing_inside(_draw: int) -> list[Value] | None:
    """The default for ``inside``: the values of the nodes are not available."""
    return None


@dataclasses.dataclass(frozen=True)
class CaseView:
    """One case as observed, for a rule to read. It contains none of the learner's own objects.

    For ``kind``, ``outputs``, ``run_error``, ``run_node`` and ``modules`` see
    :class:`fxbook.observing.observation.CaseFacts`. ``inside`` gives the values of the nodes for a draw of inputs, or
    ``None``; it runs the graph again, so call it only if the outputs are wrong. ``read`` are the names of the claims
    that rules have read so far.
    """

    trial: Trial
    kind: str
    graph: GraphRecord | None
    outputs: list[Value] | None
    run_error: str | None
    run_node: int | None
    modules: list[str]
    claims: Claims
    inside: Callable[[int], list[Value] | None] = nothing_inside
    read: set[str] = dataclasses.field(default_factory=set, compare=False)

    # ---- what the model itself gives ---------------------------------------------------------------------------------

    @property
    def exercise(self) -> Exercise:
        return self.trial.exercise

    @property
    def case(self) -> Case:
        return self.trial.case

    @property
    def seed(self) -> int:
        return self.trial.seed

    @property
    def model(self) -> nn.Module:
        """The model as it was before the answer saw it; a rule must not change it."""
        return self.trial.model

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.trial.fresh_arguments()

    @property
    def before(self) -> GraphRecord:
        return self.trial.before

    @property
    def weights(self) -> frozenset[str]:
        return self.trial.weights

    @property
    def expected(self) -> list[Value]:
        return self.trial.expected

    # ---- what the answer's graph is ----------------------------------------------------------------------------------

    @property
    def nodes(self) -> tuple[NodeRecord, ...]:
        return self.graph.nodes if self.graph else ()

    def now(self, going: Collection[int] = ()) -> dict[int, NodeRecord]:
        """The present record of each given node, by its index in the given graph; nodes that are gone are left out."""
        return {before.index: node for node, before in self.kept(going)}

    def kept(self, going: Collection[int] = ()) -> Iterator[tuple[NodeRecord, NodeRecord]]:
        """Each node that comes from the given graph, directly or as a copy, with the node it comes from.

        A ``Transformer`` replaces every node, so a new node counts as a copy of a given node that is gone and made the
        same call. Of several such nodes, one that should have stayed (is not in ``going``) comes first, then the
        most similar.
        """
        origins = {
            place: origin
            for place, origin in enumerate(self.origins)
            if origin is not None and 0 <= origin < len(self.before)
        }
        if len(origins) < len(self.nodes):
            self._recognise(origins, going)
        return ((self.nodes[place], self.before.nodes[origin]) for place, origin in sorted(origins.items()))

    def _recognise(self, origins: dict[int, int], going: Collection[int]) -> None:
        """Add the origins of new nodes that make the calls of given nodes."""
        layers = dict(self.model.named_modules(remove_duplicate=False))

        def called(node: NodeRecord) -> tuple[str, Any]:
            # A layer may be called by any of its names.
            return node.op, layers.get(node.target, node.target) if node.op == "call_module" else node.target

        present = set(origins.values())
        left: dict[tuple[str, Any], list[NodeRecord]] = collections.defaultdict(list)
        for before in self.before:
            if before.index not in present:
                left[called(before)].append(before)

        def unlike(node: NodeRecord, was: NodeRecord) -> int:
            used = tuple(origins.get(index) for index in node.inputs)
            return (used != was.inputs) + (node.constants != was.constants) + (node.notes != was.notes)

        for stays, most in itertools.product((True, False), range(4)):
            for node in self.nodes if any(left.values()) else ():
                if node.index not in origins:
                    same = (one for one in left[called(node)] if (one.index not in going) == stays)
                    if was := next((one for one in same if unlike(node, one) <= most), None):
                        left[called(node)].remove(was)
                        origins[node.index] = was.index

    def new(self) -> Iterator[NodeRecord]:
        """The nodes that do not come from the given graph."""
        known = {node.index for node, _ in self.kept()}
        return (node for node in self.nodes if node.index not in known)

    def gone(self, going: Collection[int] = ()) -> Iterator[NodeRecord]:
        """The nodes of the given graph that are no longer there."""
        now = self.now(going)
        return (node for node in self.before if node.index not in now)

    def first_divergence(self, draw: int) -> FirstDivergence | None:
        found = self.inside(draw) if self.graph else None
        # Not recorded as a claim that was read: origins decide where a fault is, not whether there is one.
        return (
            first_divergence(self.trial, self.graph, self.claims.origins, found, draw) if self.graph and found else None
        )

    # ---- what is claimed about it ------------------------------------------------------------------------------------

    def _claim(self, name: str) -> Any:
        self.read.add(name)
        return getattr(self.claims, name)

    @property
    def value(self) -> Value:
        return self._claim("value")

    @property
    def stale(self) -> bool:
        return self._claim("stale")

    @property
    def shared(self) -> dict[str, str | None]:
        return self._claim("shared")

    @property
    def changes(self) -> list[str]:
        return self._claim("changes")

    @property
    def left(self) -> list[str]:
        # Not recorded as a claim: `left` is not part of the result, and an answer that can forge it controls the
        # process anyway.
        return self.claims.left

    @property
    def same_object(self) -> bool:
        return self._claim("same_object")

    @property
    def origins(self) -> list[int | None]:
        return self._claim("origins")
