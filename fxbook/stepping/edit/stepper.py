"""Step through an edit: record a graph while a pass works on it, and show what each step changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from torch import fx

from fxbook.drawing.display import LEGEND, MARK_LEGEND
from fxbook.drawing.layout import argument_places
from fxbook.drawing.lettering import clean
from fxbook.drawing.paint import state_classes, swatch
from fxbook.graph.record import NodeRecord
from fxbook.stepping.edit.changes import Changes, compare
from fxbook.stepping.edit.code import code_panel
from fxbook.stepping.edit.excerpt import excerpt, fold
from fxbook.stepping.edit.listing import Entry, list_panel, words_on
from fxbook.stepping.edit.rows import union_rows
from fxbook.stepping.edit.shot import Shot, take
from fxbook.stepping.player import MAX_FRAMES, Frame, Panel, Player
from fxbook.stepping.scene import Edge, Scene, Seen, film_of, inputs_of

_MOST_SENTENCES = 6
_ORDERS = ("numbers: order in the list", "arrows: who uses what")
_OWN_MARKS = {
    "moved": "↕ arrow beside the numbers: moved in the list",
    "retargeted": "≠ another target than before",
    "changed": "≠ other arguments than before",
    "renamed": "≠ another name than before",
}


class EditStepper:
    """Frames of a graph that is being edited; name it at the end of a cell to step through them.

    ::

        steps = EditStepper(traced, "The model as it was traced")
        tanh = …
        steps.frame("tanh is in the list, and has no users")
        steps
    """

    def __init__(self, traced: fx.Graph | fx.GraphModule, caption: str = "Before", title: str | None = None) -> None:
        """Record the first frame.

        Args:
            traced: the graph that will be edited, or its module, which also tells whether ``forward`` is stale.
            caption: what the first frame shows.
            title: what all frames show.

        Raises:
            TypeError: there is no graph to record; the message says what to pass.
        """
        self._subject = traced
        self._keys: dict[fx.Node, int] = {}
        self._shots = [take(traced, caption, self._keys)]
        self._not_kept = 0
        self._player: Player | None = None
        self.title = "The graph, step by step" if title is None else clean(title, 200)

    def frame(self, caption: str) -> None:
        """Record the graph as it is now, as plain data; nothing is drawn before the stepper is shown.

        After the 100th frame nothing more is recorded, and the stepper says so.
        """
        if len(self._shots) >= MAX_FRAMES:
            self._not_kept += 1
        else:
            self._shots.append(take(self._subject, caption, self._keys))
        self._player = None

    def __len__(self) -> int:
        return len(self._shots)

    def __repr__(self) -> str:
        return repr(self._built())

    def _repr_html_(self) -> str:
        return self._built()._repr_html_()

    def _built(self) -> Player:
        self._player = self._player or play(self.title, self._shots, self._not_kept)
        return self._player


def play(title: str, shots: Sequence[Shot], not_kept: int = 0) -> Player:
    """Put shots together to a player; a node has the same key in all of them. So many more were ``not_kept``."""
    rows, places, moved = union_rows([shot.keys for shot in shots], _reluctance(shots))
    changes = [Changes(), *(compare(shots[i - 1], shots[i], moved[i]) for i in range(1, len(shots)))]
    wanted = excerpt(rows, shots, changes)
    folded = fold(rows, wanted)
    frames = [_Step(shots, changes, places, rows, folded, wanted, at) for at in range(len(shots))]
    film = film_of([step.scene() for step in frames], f"The graph of: {title}")
    names: dict[str, int] = {}
    shown = []
    for step, shot in zip(frames, shots, strict=True):
        names |= {node.name: key for key, node in shot.nodes.items()}
        stale = " (stale)" if shot.record.stale else ""
        heading = f"The code that forward runs{stale}" if shot.compiled else "The code that recompile() would make"
        panels = [
            Panel("drawing", "The graph", film, "Graph"),
            Panel("list", "The list of nodes", list_panel(step.entries(), shot, step.changes), "List"),
            Panel("code", heading, code_panel(shot, step.before, names, moved[step.at], wanted), "Code"),
        ]
        shown.append(Frame(shot.caption, panels, step.remarks()))
    if not_kept:
        limit = f"! {not_kept} more frames were not kept: a stepper holds {MAX_FRAMES}. Record fewer, where it matters."
        shown[-1] = dataclasses.replace(shown[-1], remarks=(*shown[-1].remarks, limit))
    return Player(title, shown, legend=_legend(shots, changes))


def _legend(shots: Sequence[Shot], changes: Sequence[Changes]) -> list[str]:
    """What the shapes and signs mean that are seen in any frame."""
    ops = {node.op for shot in shots for node in shot.record}
    marks = {mark for one in changes for words in one.marks.values() for mark in words}
    if any(node.faults for shot in shots for node in shot.record):
        marks.add("broken")
    return [
        *(swatch(op) + text for op, text in LEGEND.items() if op in ops),
        *_ORDERS,
        *(text for mark, text in {**MARK_LEGEND, **_OWN_MARKS}.items() if mark in marks),
    ]


def _reluctance(shots: Sequence[Shot]) -> Callable[[int, int], float]:
    """Of two nodes that changed their order, the one that torch.fx gave another place is the one that was moved."""
    places = [dict(zip(shot.keys, shot.places, strict=True)) for shot in shots]
    return lambda at, key: 1.0 if places[at - 1].get(key) == places[at].get(key) else 0.001


@dataclasses.dataclass(frozen=True)
class _Step:
    """One frame among the others: what to draw of it, and what to say."""

    shots: Sequence[Shot]
    all_changes: Sequence[Changes]
    places: Sequence[Mapping[int, int]]
    rows: Sequence[int]
    folded: Sequence[int]
    wanted: frozenset[int] | None
    at: int

    @property
    def shot(self) -> Shot:
        return self.shots[self.at]

    @property
    def before(self) -> Shot | None:
        return self.shots[self.at - 1] if self.at else None

    @property
    def changes(self) -> Changes:
        return self.all_changes[self.at]

    def _shows(self, key: int) -> bool:
        return self.wanted is None or key in self.wanted

    def _row(self, key: int) -> int:
        """The row of a node in the drawing; of one that is not in the list any more, the row it had."""
        place = self.places[self.at].get(key)
        return self.folded[self.places[self.at - 1][key] if place is None else place]

    def scene(self) -> Scene:
        seen: dict[int, Seen] = {}
        edges: dict[Edge, tuple[str, ...]] = {}
        moves = []
        marks = self.changes.marks
        for key, node in self.shot.nodes.items():
            if not self._shows(key):
                continue
            classes = (*(f"fx-{mark}" for mark in marks.get(key, ())), *state_classes(node))
            seen[self._row(key)] = Seen(node, key, str(node.index), words_on(key, node, marks), classes)
            for (source, label), place in zip(inputs_of(node), self._input_keys(key, self.shot), strict=True):
                if self._shows(self.shot.keys[source]):
                    new = place in self.changes.arrived
                    edges[self._row(place[0]), self._row(key), label] = ("fx-rewired",) if new else ()
        for key, words in marks.items():
            if self._shows(key) and "removed" in words:
                node = self.before.nodes[key]
                seen[self._row(key)] = Seen(node, key, "", words_on(key, node, marks), ("fx-removed",))
            elif self._shows(key) and "moved" in words:
                old, new = self.folded[self.places[self.at - 1][key]], self._row(key)
                if old != new:
                    node = self.before.nodes[key]
                    ghost = dataclasses.replace(node, call=node.name, kind=None)
                    seen[old] = Seen(ghost, key, "", ("stood here",), ("fx-ghost",))
                    moves.append((old, new))
        for edge in self._edges_that_left():
            edges.setdefault(edge, ("fx-removed",))
        for row, count in self._gaps().items():
            name = f"{count} node{'s' if count > 1 else ''} not shown"
            gap = NodeRecord(row, name, "group", "", None, name, {"tuple": []}, {"dict": []}, (), ())
            seen[row] = Seen(gap, -1 - row, "")
        return Scene(seen, edges, tuple(moves))

    def _input_keys(self, key: int, shot: Shot) -> list[tuple[int, int, str]]:
        node = shot.nodes[key]
        return [(shot.keys[i], key, place) for i, place in zip(node.inputs, argument_places(node), strict=True)]

    def _edges_that_left(self) -> list[Edge]:
        gone = []
        for key in dict.fromkeys(key for _, key, _ in sorted(self.changes.left)):
            old = self.before.nodes[key]
            for (source, label), place in zip(inputs_of(old), self._input_keys(key, self.before), strict=True):
                if place in self.changes.left and self._shows(key) and self._shows(self.before.keys[source]):
                    gone.append((self._row(place[0]), self._row(key), label))
        return gone

    def _gaps(self) -> dict[int, int]:
        """How many nodes of this frame each row stands for that stands for several."""
        counts: dict[int, int] = {}
        for key, place in self.places[self.at].items():
            if not self._shows(key):
                counts[self.folded[place]] = counts.get(self.folded[place], 0) + 1
        return counts

    def entries(self) -> list[Entry]:
        """The rows of the table, in the order of the drawing."""
        found: dict[int, Entry] = dict(self._gaps())
        for key, node in self.shot.nodes.items():
            if self._shows(key):
                found[self._row(key)] = (key, node)
        for key, words in self.changes.marks.items():
            if "removed" in words and self._shows(key):
                found[self._row(key)] = (key, self.before.nodes[key])
        return [found[row] for row in sorted(found)]

    def remarks(self) -> list[str]:
        told = list(self.changes.sentences[:_MOST_SENTENCES])
        more = len(self.changes.sentences) - len(told)
        told += [f"and {more} more change{'s' if more > 1 else ''}"] if more else []
        if self.before and self.before.record.stale and not self.shot.record.stale:
            told.append("↻ forward is compiled anew")
        if self.wanted is not None and not self.at:
            told.append(f"Of {len(self.shot.keys)} nodes those that change are shown, and their neighbours")
        lint = self.shot.record.lint
        told.append(f"! lint: {clean(lint, 300)}" if lint else "✓ lint finds no fault")
        if self.shot.compiled:
            stale = "! stale: forward still runs the code compiled before; recompile() is due"
            told.append(stale if self.shot.record.stale else "✓ forward is up to date with the graph")
        return told
