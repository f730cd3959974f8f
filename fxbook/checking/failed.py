"""The case in which an answer failed, recreated from the seed at each access."""

from __future__ import annotations

import dataclasses
from typing import Any

from torch import fx, nn

from fxbook.cases.exercise import Exercise, inputs_of, model_of, seed_of, traced
from fxbook.checking.judge import Verdict
from fxbook.graph.naming import argument_text, module_kind
from fxbook.observing.answers import caller


@dataclasses.dataclass(frozen=True, repr=False)
class FailedCase:
    """A case in which the answer failed, for the learner to examine.

    ``answer(*case.arguments)`` calls the answer again, and ``case.use(answer)`` uses it as the check does. Each access
    recreates its part with the same seed, so it does not show what an answer changed.
    """

    exercise: Exercise
    seed: int
    place: int

    @classmethod
    def of(cls, exercise: Exercise, seed: int, verdict: Verdict) -> FailedCase | None:
        """The case of a verdict, or ``None`` if all passed or no case was reached."""
        return None if verdict.passed or verdict.case is None else cls(exercise, seed, verdict.case)

    @property
    def name(self) -> str:
        return self._case.name

    @property
    def model(self) -> nn.Module:
        return model_of(self._case, self._seed)

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.exercise.usage.arguments(self._case, self.model, self._seed)

    @property
    def inputs(self) -> tuple[Any, ...]:
        return inputs_of(self._case, self._seed)[0]

    @property
    def graph(self) -> fx.Graph:
        """The graph among the arguments; if there is none, the graph from tracing the model, which may raise."""
        graphs = (getattr(item, "graph", item) for item in self.arguments)
        given = next((graph for graph in graphs if isinstance(graph, fx.Graph)), None)
        return traced(self.model)[0].graph if given is None else given

    def use(self, answer: Any) -> Any:
        return caller(self.exercise.usage, answer)(*self.arguments)

    def __repr__(self) -> str:
        return f"{self.name}: answer({', '.join(map(_in_words, self.arguments))})"

    def _repr_html_(self) -> str | None:
        """A drawing of the graph; ``None`` if the model cannot be traced, and then the text is shown."""
        from fxbook.drawing import draw  # This imports graphviz.

        try:
            graph = self.graph
        except Exception:
            return None
        return str(draw(graph, f"The graph of {self.name}")._repr_html_())

    @property
    def _case(self) -> Any:
        return self.exercise.usage.cases[self.place]

    @property
    def _seed(self) -> int:
        return seed_of(self.seed, self.place)


def _in_words(argument: Any) -> str:
    return module_kind(argument) if isinstance(argument, nn.Module | fx.Graph) else argument_text(argument)
