"""A graph in a run stepper, its run, and the rows of the graph that each frame stands for."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from fxbook.drawing.summary import summarise
from fxbook.graph.record import GraphRecord
from fxbook.stepping.run.record import RunRecord

DRAWN_NODES = 60
"""Larger graphs are drawn in groups of nodes, one group per frame."""
_MOST_FRAMES = 60


@dataclasses.dataclass(frozen=True)
class Subject:
    """A graph that was run.

    ``drawn`` is the graph as drawn, ``rows`` lists the nodes that each drawn node stands for, and ``first_key``
    distinguishes the nodes of two graphs in one player.
    """

    label: str
    graph: GraphRecord
    run: RunRecord
    drawn: GraphRecord
    rows: tuple[range, ...]
    first_key: int = 0

    @functools.cached_property
    def keys(self) -> list[int]:
        """For each node of the graph, the key that links its rows to the drawing."""
        return [self.first_key + at for at, row in enumerate(self.rows) for _ in row]

    @property
    def grouped(self) -> str:
        """A sentence that says how the nodes are grouped, or ``""``."""
        if len(self.rows) == len(self.graph):
            return ""
        return f"{len(self.graph)} nodes are too many to draw one by one: they are shown in {len(self.rows)} groups."

    @property
    def ended(self) -> int:
        """The number of steps to show: the nodes that ran, and the one that raised."""
        return self.run.steps + (self.run.failed is not None)

    def at(self, step: int) -> int:
        return max(min(step, self.ended - 1), 0)

    def bytes_after(self, step: int) -> int:
        return self.run.after[min(step, self.run.steps - 1)] if self.run.steps else 0


def run_subject(label: str, graph: GraphRecord, run: RunRecord, first_key: int = 0) -> Subject:
    """A subject, with its nodes in groups if there are too many to draw."""
    drawn, rows = graph, [range(index, index + 1) for index in range(len(graph))]
    if len(graph) > DRAWN_NODES:
        drawn, rows = summarise(graph)
    return Subject(label, graph, run, drawn, tuple(rows), first_key)


def frames_of(subjects: Sequence[Subject]) -> list[range]:
    """The steps in each frame: those of one row of the longest run, or of several, to limit the number of frames."""
    longest = max(subjects, key=lambda subject: subject.ended)
    reached = [range(row.start, min(row.stop, longest.ended)) for row in longest.rows if row.start < longest.ended]
    every = max(1, -(-len(reached) // _MOST_FRAMES))
    return [range(reached[at].start, reached[at : at + every][-1].stop) for at in range(0, len(reached), every)]
