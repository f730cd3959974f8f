"""One case of an exercise for a seed: its model, the answer's arguments, and the expected outputs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from torch import fx, nn

from fxbook.cases.exercise import Case, Exercise, inputs_of, model_of, seed_of, traced
from fxbook.cases.running import run_on
from fxbook.cases.values import Value, encode
from fxbook.graph.record import GraphRecord, NodeRecord, record


class Trial:
    """A case of an exercise, computed once, where the answer cannot reach it.

    ``arguments`` are those for the answer, if they have been made and nothing else will use them.
    """

    def __init__(self, exercise: Exercise, case: Case, seed: int, arguments: tuple[Any, ...] | None = None) -> None:
        self.exercise, self.case, self.seed = exercise, case, seed
        self._arguments = arguments
        self._before: GraphRecord | None = None

    @functools.cached_property
    def model(self) -> nn.Module:
        """The model as it was before the answer saw it. It is cached: do not change it."""
        return model_of(self.case, self.seed)

    def start(self) -> tuple[nn.Module, tuple[Any, ...]]:
        model = model_of(self.case, self.seed)
        arguments = self.exercise.usage.arguments(self.case, model, self.seed)
        if self._before is None:
            self._before = _graph_in(arguments)
        return model, arguments

    def fresh_arguments(self) -> tuple[Any, ...]:
        if self._arguments is None:
            return self.start()[1]
        arguments, self._arguments = self._arguments, None
        self._before = _graph_in(arguments)
        return arguments

    @functools.cached_property
    def before(self) -> GraphRecord:
        """The graph that the answer was given, or that tracing the model gives."""
        # Tracing stores constants on the model, so a new model is traced.
        return record(traced(model_of(self.case, self.seed))[0]) if self.given is None else self.given

    @functools.cached_property
    def given(self) -> GraphRecord | None:
        """The graph that the answer was called with, if any."""
        if self._before is None:
            self._before = _graph_in(self.start()[1] if self._arguments is None else self._arguments)
        return self._before

    @functools.cached_property
    def inputs(self) -> tuple[NodeRecord, ...]:
        """The inputs of the graph that the answer was given, or of the model, which need not be traceable."""
        if self.given is not None:
            return tuple(node for node in self.given if node.op == "placeholder")
        graph = fx.Graph()
        for name, parameter in inspect.signature(self.model.forward).parameters.items():
            graph.placeholder(name, default_value=parameter.default)
        return tuple(record(graph))

    @functools.cached_property
    def weights(self) -> frozenset[str]:
        return frozenset(name for name, _ in (*self.model.named_parameters(), *self.model.named_buffers()))

    @functools.cached_property
    def expected(self) -> list[Value]:
        # A new model, because running may change the buffers.
        call = functools.partial(self.exercise.check.expected, model_of(self.case, self.seed))
        return [encode(output) for output in run_on(call, inputs_of(self.case, self.seed), self.seed)]


def _graph_in(arguments: tuple[Any, ...]) -> GraphRecord | None:
    # An ExportedProgram holds its graph in a module.
    held = (getattr(item, "graph_module", item) for item in arguments)
    given = next((item for item in held if isinstance(item, fx.Graph | fx.GraphModule)), None)
    return None if given is None else record(given)


def trials_of(
    exercise: Exercise, seed: int, arguments: Mapping[int, tuple[Any, ...]] = MappingProxyType({})
) -> tuple[Trial, ...]:
    """The cases of an exercise, each with its own seed; ``arguments`` are those of :class:`Trial`, by index."""
    return tuple(
        Trial(exercise, case, seed_of(seed, index), arguments.get(index))
        for index, case in enumerate(exercise.usage.cases)
    )
