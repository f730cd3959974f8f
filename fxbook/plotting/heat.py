"""Draw a graph coloured by a number for each node: the larger its share of the whole, the stronger the colour."""

from __future__ import annotations

from collections.abc import Mapping

from torch import fx

from fxbook.drawing import Drawing
from fxbook.drawing.lettering import clean
from fxbook.graph.record import record


class Heat(Drawing):
    """A drawing whose colours show shares; shapes show opcodes, as in any drawing."""

    def __init__(
        self, traced: fx.Graph | fx.GraphModule, values: Mapping[fx.Node, float], unit: str, title: str
    ) -> None:
        graph = traced if isinstance(traced, fx.Graph) else traced.graph
        drawn = record(traced)
        position = {node: index for index, node in enumerate(graph.nodes)}
        unknown = next((node for node in values if node not in position), None)
        if unknown is not None:
            raise ValueError(
                f"values: the node {unknown} is not in this graph; give values for nodes of the drawn graph"
            )
        if any(value < 0 for value in values.values()):
            raise ValueError("values: a share of the whole needs numbers that are not negative")
        total = sum(values.values())
        self.shares = {position[node]: value / total if total else 0.0 for node, value in values.items()}
        self.unit = clean(unit, 60)
        most = max(self.shares.values(), default=0.0) or 1.0
        strengths = {index: share / most for index, share in self.shares.items()}
        super().__init__(drawn, clean(title, 200), {}, fill=strengths)
        if len(self.record) != len(drawn):
            raise ValueError(f"{len(drawn)} nodes are too many to draw one by one: draw a part, or a table")
        for index, share in self.shares.items():
            self.words[index] = (
                [*self.words[index], f"{_percent(share)} of the {self.unit}"] if share else self.words[index]
            )

    def _legend(self) -> list[str]:
        return [*super()._legend(), f"fill: stronger for a larger share of the {self.unit}"]


def heat(traced: fx.Graph | fx.GraphModule, values: Mapping[fx.Node, float], unit: str, title: str = "") -> Heat:
    """Draw a graph coloured by a number for each node; put the result at the end of a cell to see it.

    Args:
        traced: the graph, or a module that has one.
        values: for some nodes, a number that is not negative: seconds, bytes, FLOPs. Other nodes count as 0.
        unit: what is counted, as in "38 % of the FLOPs".
        title: the caption; by default, "Share of the" and the unit.

    Raises:
        ValueError: a node is not in the graph, a number is negative, or the graph is too large to draw.
    """
    return Heat(traced, values, unit, title or f"Share of the {unit}")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"
