"""What a property reads: one case of one observation, and what the model itself gives, computed afresh."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from torch import fx, nn

from fxbook.checks.values import Value, encode
from fxbook.graph.record import GraphRecord, NodeRecord, record

if TYPE_CHECKING:
    from fxbook.checks.exercise import Case, Exercise


@dataclasses.dataclass(frozen=True)
class Violation:
    """What a property found.

    Args:
        message: one sentence for the learner: what the graph does, and what it should do; never how.
        node: the index of the node that violates it, which the report draws as broken.
        look: ``"chapter#anchor"`` where this mistake is explained, in place of the exercise's own ``read``.
        rule: the name of the property, which :func:`first_violation` fills in.
    """

    message: str
    node: int | None = None
    look: str | None = None
    rule: str = ""


Property = Callable[["CaseView"], Violation | None]


@dataclasses.dataclass(frozen=True)
class CaseView:
    """One case as observed, for a property to read. Nothing in it is the learner's own object.

    ``kind`` is ``"GraphModule"``, ``"Graph"``, ``"Module"``, ``"None"`` or another class's name. ``outputs`` holds one
    encoded value per draw of inputs, or is ``None`` where running raised, which ``run_error`` describes; ``run_node``
    is the index of the node that raised, where it is known. ``value`` is what a ``compute`` answer returned. ``shared``
    maps each parameter and buffer of the result to the name it has in the model given, if it is the same object, else
    ``None``; ``modules`` are the paths of its submodules. ``origins`` holds for each node the index of the node of the
    given graph that it is, or was copied from, else ``None``. ``changes`` say what happened to the model given.
    """

    exercise: Exercise
    case: Case
    seed: int
    kind: str
    graph: GraphRecord | None
    outputs: list[Value] | None
    run_error: str | None
    run_node: int | None
    value: Value
    shared: dict[str, str | None]
    modules: list[str]
    origins: list[int | None]
    changes: list[str]
    same_object: bool

    @property
    def nodes(self) -> tuple[NodeRecord, ...]:
        """The nodes of the learner's graph, in list order."""
        return self.graph.nodes if self.graph else ()

    @property
    def model(self) -> nn.Module:
        """The model of this case, built anew each time: as it was before the answer saw it."""
        from fxbook.checks.exercise import model_of

        return model_of(self.case, self.seed)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the answer was called with, made anew each time."""
        return self.exercise.arguments(self.case, self.model, self.seed)

    @functools.cached_property
    def before(self) -> GraphRecord:
        """The graph that the answer was given, or that tracing the model gives."""
        from fxbook.checks.exercise import traced

        given = next((item for item in self.arguments if isinstance(item, fx.Graph | fx.GraphModule)), None)
        return record(given if given is not None else traced(self.model)[0])

    @functools.cached_property
    def weights(self) -> frozenset[str]:
        """The names of the parameters and buffers of the model that was given."""
        model = self.model
        return frozenset(name for name, _ in (*model.named_parameters(), *model.named_buffers()))

    @functools.cached_property
    def expected(self) -> list[Value]:
        """The outputs asked for, encoded, one per draw of inputs."""
        from fxbook.checks.exercise import inputs_of
        from fxbook.checks.running import run_on

        call = functools.partial(self.exercise.expected, self.model)
        return [encode(output) for output in run_on(call, inputs_of(self.case, self.seed), self.seed)]


def first_violation(case: CaseView, properties: Iterable[Property]) -> Violation | None:
    """The first violation that the properties find, with the name of the property that found it."""
    for holds in properties:
        if found := holds(case):
            return found if found.rule else dataclasses.replace(found, rule=holds.__name__)
    return None
