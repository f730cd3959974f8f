"""What a rule reads: one case of one observation, and what the model itself gives, computed afresh."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from torch import nn

from fxbook.cases.exercise import Case, Exercise
from fxbook.cases.values import Value
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.divergence import FirstDivergence, first_divergence
from fxbook.rules.trial import Trial


@dataclasses.dataclass(frozen=True)
class Claims:
    """What only the process of the answer can tell of it; see :data:`classroom.judge.claims.CLAIMS`.

    Args:
        value: what a ``compute`` answer returned.
        stale: whether the module's code is that of an earlier graph.
        shared: each parameter and buffer of the result, with its name in the model given if it is that object, else
            ``None``.
        changes: what happened to the model given, in words.
        same_object: whether the result is the object that was given.
        left: what the answer left otherwise than it was, that no exercise asks to change, in words.
        origins: for each node the index of the node of the given graph that it is, or was copied from, else ``None``.
    """

    value: Value
    stale: bool
    shared: dict[str, str | None]
    changes: list[str]
    same_object: bool
    origins: list[int | None]
    left: list[str] = dataclasses.field(default_factory=list)


def nothing_inside(_draw: int) -> list[Value] | None:
    """Stands for the values of the nodes where nobody can tell them."""
    return None


@dataclasses.dataclass(frozen=True)
class CaseView:
    """One case as observed, for a rule to read. Nothing in it is the learner's own object.

    Args:
        trial: what the model itself gives.
        kind: ``"GraphModule"``, ``"Graph"``, ``"Module"``, ``"None"`` or another class's name.
        graph: the answer's graph, if it returned one.
        outputs: one encoded value per draw of inputs; ``None`` where running raised, which ``run_error`` describes.
        run_node: the index of the node that raised, where it is known.
        modules: the paths of the result's submodules.
        claims: see :class:`Claims`; a rule reads them by the properties of the same names.
        inside: the value of each node for a draw of inputs, ``None`` where they cannot be had; asked for only where the
            outputs are wrong, since the graph is run again for them.
        read: the names of the claims that rules have read so far.
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
        """The model as it was before the answer saw it; a rule changes nothing in it."""
        return self.trial.model

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the answer was called with, made anew each time."""
        return self.trial.fresh_arguments()

    @property
    def before(self) -> GraphRecord:
        """The graph that the answer was given, or that tracing the model gives."""
        return self.trial.before

    @property
    def weights(self) -> frozenset[str]:
        """The names of the parameters and buffers of the model that was given."""
        return self.trial.weights

    @property
    def expected(self) -> list[Value]:
        """The outputs asked for, encoded, one per draw of inputs."""
        return self.trial.expected

    # ---- what the answer's graph is ----------------------------------------------------------------------------------

    @property
    def nodes(self) -> tuple[NodeRecord, ...]:
        """The nodes of the learner's graph, in list order."""
        return self.graph.nodes if self.graph else ()

    def kept(self) -> Iterator[tuple[NodeRecord, NodeRecord]]:
        """Each node that is, or was copied from, one of the graph given, with what it was there."""
        for node, origin in zip(self.nodes, self.origins, strict=True):
            if origin is not None and 0 <= origin < len(self.before):
                yield node, self.before.nodes[origin]

    def new(self) -> Iterator[NodeRecord]:
        """The nodes that are none of the graph given."""
        return (node for node, origin in zip(self.nodes, self.origins, strict=True) if origin is None)

    def now(self) -> dict[int, NodeRecord]:
        """What the nodes of the graph given are now, by their index there; without those that are gone."""
        return {before.index: node for node, before in self.kept()}

    def first_divergence(self, draw: int) -> FirstDivergence | None:
        """The first node whose value is not what it should be on these inputs, where that is known."""
        found = self.inside(draw) if self.graph else None
        # Not read as a claim: it says where, and not whether.
        return (
            first_divergence(self.trial, self.graph, self.claims.origins, found, draw) if self.graph and found else None
        )

    # ---- what is claimed of it ---------------------------------------------------------------------------------------

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
        # As what was replaced in torch: whoever can forge it has the process anyway, and it is no part of the result.
        return self.claims.left

    @property
    def same_object(self) -> bool:
        return self._claim("same_object")

    @property
    def origins(self) -> list[int | None]:
        return self._claim("origins")
