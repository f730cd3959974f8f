"""Step through an edit: record a graph while a pass works on it, and show what each step changed."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Callable, Mapping, Sequence

from torch import fx

from fxbook.drawing.display import LEGEND, MARK_LEGEND
from fxbook.drawing.layout import argument_places
from fxbook.drawing.lettering import clean
from fxbook.drawing.paint import state_classes, swatch
from fxbook.graph.nested import graphs_inside
from fxbook.graph.record import NodeRecord
from fxbook.stepping.edit.changes import Changes, compare
from fxbook.stepping.edit.code import code_panel
from fxbook.stepping.edit.excerpt import excerpt, fold
from fxbook.stepping.edit.listing import Entry, list_panel, words_on
from fxbook.stepping.edit.rows import union_rows
from fxbook.stepping.edit.snapshot import Snapshot, take
from fxbook.stepping.graph_frame import Edge, GraphFrame, Seen, animation_of, inputs_of
from fxbook.stepping.player import MAX_FRAMES, Frame, Panel, Player

_MOST_SENTENCES, _MOST_INSIDE = 6, 3
_ORDERS = ("numbers: order in the list", "arrows: who uses what")
_OWN_MARKS = {
    "moved": "↕ arrow beside the numbers: moved in the list",
    "retargeted": "≠ a different target than before",
    "changed": "≠ different arguments than before",
    "renamed": "≠ a different name than before",
}


class EditStepper:
    """Frames of a graph that is being edited. Put the stepper at the end of a cell to step through them.

    Example:
        >>> import torch
        >>> from fxbook import EditStepper
        >>> traced = torch.fx.symbolic_trace(torch.nn.ReLU())
        >>> steps = EditStepper(traced, "As it was traced")
        >>> [relu] = traced.graph.find_nodes(op="call_function", target=torch.nn.functional.relu)
        >>> relu.target = torch.sigmoid
        >>> steps.frame("relu calls sigmoid, and forward does not")
        >>> len(steps)
        2
    """

    def __init__(self, traced: fx.Graph | fx.GraphModule, caption: str = "Before", title: str | None = None) -> None:
        """Record the first frame.

        Args:
            traced: the graph that will be edited, or its module, which also shows whether ``forward`` is stale.
            caption: the caption of the first frame.
            title: the title of all frames.

        Raises:
            TypeError: there is no graph to record; the message says what to pass.
        """
        self._subject = traced
        self._keys: dict[fx.Node, int] = {}
        self._snapshots = [take(traced, caption, self._keys)]
        self._inside: dict[str, _Inside] = {}
        self._take_inside(caption)
        self._not_kept = 0
        self._player: Player | None = None
        self.title = "The graph, step by step" if title is None else clean(title, 200)

    def frame(self, caption: str) -> None:
        """Record the graph as it is now, as plain data; nothing is drawn until the stepper is shown.

        Frames after the 100th are not recorded, and the stepper says so.
        """
        if len(self._snapshots) >= MAX_FRAMES:
            self._not_kept += 1
        else:
            self._snapshots.append(take(self._subject, caption, self._keys))
            self._take_inside(caption)
        self._player = None

    def _take_inside(self, caption: str) -> None:
        graph = self._subject if isinstance(self._subject, fx.Graph) else self._subject.graph
        for path, module in graphs_inside(graph).items():
            inside = self._inside.setdefault(path, _Inside())
            inside.snapshots[len(self._snapshots) - 1] = take(module, caption, inside.keys)

    def __len__(self) -> int:
        return len(self._snapshots)

    def __repr__(self) -> str:
        return repr(self._built())

    def _repr_html_(self) -> str:
        parts = [self._built()._repr_html_()]
        for path, inside in self._inside.items():
            if inside.changed():
                player = play(f"The graph inside {path}", [*inside.snapshots.values()], self._not_kept)
                parts.append(f"<p>Inside <code>{html.escape(path)}</code>:</p>{player._repr_html_()}")
        return "".join(parts)

    def _built(self) -> Player:
        if self._player is None:
            said: dict[int, list[str]] = {}
            for path, inside in self._inside.items():
                for at, sentences in inside.changed().items():
                    more = len(sentences) - _MOST_INSIDE
                    told = [*sentences[:_MOST_INSIDE], *([f"and {more} more changes"] if more > 0 else [])]
                    said.setdefault(at, []).extend(f"inside {path}: {sentence}" for sentence in told)
            self._player = play(self.title, self._snapshots, self._not_kept, said)
        return self._player


@dataclasses.dataclass
class _Inside:
    """A nested graph, in each frame that contains it, by frame number."""

    keys: dict[fx.Node, int] = dataclasses.field(default_factory=dict)
    snapshots: dict[int, Snapshot] = dataclasses.field(default_factory=dict)

    def changed(self) -> dict[int, tuple[str, ...]]:
        """What happened in the nested graph, as sentences by frame number."""
        snapshots = list(self.snapshots.values())
        # A graph that replaces an equal one counts as the same graph.
        if all(one.record.nodes == snapshots[0].record.nodes for one in snapshots):
            return {}
        _, _, moved = union_rows([one.keys for one in snapshots], _reluctance(snapshots))
        found = {
            at: compare(snapshots[number - 1], snapshots[number], moved[number]).sentences
            for number, at in enumerate(self.snapshots)
            if number
        }
        return {at: sentences for at, sentences in found.items() if sentences}


def play(
    title: str, snapshots: Sequence[Snapshot], not_kept: int = 0, said: Mapping[int, Sequence[str]] | None = None
) -> Player:
    """Make a player from snapshots; a node has the same key in all of them.

    ``not_kept`` is the number of frames that were not kept. ``said`` holds sentences by frame number; they come before
    lint's message.
    """
    rows, places, moved = union_rows([snapshot.keys for snapshot in snapshots], _reluctance(snapshots))
    changes = [Changes(), *(compare(snapshots[i - 1], snapshots[i], moved[i]) for i in range(1, len(snapshots)))]
    wanted = excerpt(rows, snapshots, changes)
    folded = fold(rows, wanted)
    frames = [_Step(snapshots, changes, places, rows, folded, wanted, at) for at in range(len(snapshots))]
    animation = animation_of([step.graph_frame() for step in frames], f"The graph of: {title}")
    names: dict[str, int] = {}
    shown = []
    for step, snapshot in zip(frames, snapshots, strict=True):
        names |= {node.name: key for key, node in snapshot.nodes.items()}
        stale = " (stale)" if snapshot.record.stale else ""
        heading = f"The code that forward runs{stale}" if snapshot.compiled else "The code that recompile() would make"
        panels = [
            Panel("drawing", "The graph", animation, "Graph"),
            Panel("list", "The list of nodes", list_panel(step.entries(), snapshot, step.changes), "List"),
            Panel("code", heading, code_panel(snapshot, step.before, names, moved[step.at], wanted), "Code"),
        ]
        shown.append(Frame(snapshot.caption, panels, step.remarks((said or {}).get(step.at, ()))))
    if not_kept:
        limit = f"! {not_kept} more frames were not kept: a stepper holds {MAX_FRAMES}. Record fewer, where it matters."
        shown[-1] = dataclasses.replace(shown[-1], remarks=(*shown[-1].remarks, limit))
    return Player(title, shown, legend=_legend(snapshots, changes))


def _legend(snapshots: Sequence[Snapshot], changes: Sequence[Changes]) -> list[str]:
    ops = {node.op for snapshot in snapshots for node in snapshot.record}
    marks = {mark for one in changes for words in one.marks.values() for mark in words}
    if any(node.faults for snapshot in snapshots for node in snapshot.record):
        marks.add("broken")
    return [
        *(swatch(op) + text for op, text in LEGEND.items() if op in ops),
        *_ORDERS,
        *(text for mark, text in {**MARK_LEGEND, **_OWN_MARKS}.items() if mark in marks),
    ]


def _reluctance(snapshots: Sequence[Snapshot]) -> Callable[[int, int], float]:
    """If two nodes have swapped places, the one with a new sort key was moved."""
    places = [dict(zip(snapshot.keys, snapshot.places, strict=True)) for snapshot in snapshots]
    return lambda at, key: 1.0 if places[at - 1].get(key) == places[at].get(key) else 0.001


@dataclasses.dataclass(frozen=True)
class _Step:
    snapshots: Sequence[Snapshot]
    all_changes: Sequence[Changes]
    places: Sequence[Mapping[int, int]]
    rows: Sequence[int]
    folded: Sequence[int]
    wanted: frozenset[int] | None
    at: int

    @property
    def snapshot(self) -> Snapshot:
        return self.snapshots[self.at]

    @property
    def before(self) -> Snapshot | None:
        return self.snapshots[self.at - 1] if self.at else None

    @property
    def changes(self) -> Changes:
        return self.all_changes[self.at]

    def _shows(self, key: int) -> bool:
        return self.wanted is None or key in self.wanted

    def _row(self, key: int) -> int:
        """The row of a node in the drawing; a removed node keeps its previous one."""
        place = self.places[self.at].get(key)
        return self.folded[self.places[self.at - 1][key] if place is None else place]

    def graph_frame(self) -> GraphFrame:
        seen: dict[int, Seen] = {}
        edges: dict[Edge, tuple[str, ...]] = {}
        moves = []
        marks = self.changes.marks
        for key, node in self.snapshot.nodes.items():
            if not self._shows(key):
                continue
            classes = (*(f"fx-{mark}" for mark in marks.get(key, ())), *state_classes(node))
            seen[self._row(key)] = Seen(node, key, str(node.index), words_on(key, node, marks), classes)
            for (source, label), place in zip(inputs_of(node), self._input_keys(key, self.snapshot), strict=True):
                if self._shows(self.snapshot.keys[source]):
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
        return GraphFrame(seen, edges, tuple(moves))

    def _input_keys(self, key: int, snapshot: Snapshot) -> list[tuple[int, int, str]]:
        node = snapshot.nodes[key]
        return [(snapshot.keys[i], key, place) for i, place in zip(node.inputs, argument_places(node), strict=True)]

    def _edges_that_left(self) -> list[Edge]:
        gone = []
        for key in dict.fromkeys(key for _, key, _ in sorted(self.changes.left)):
            old = self.before.nodes[key]
            for (source, label), place in zip(inputs_of(old), self._input_keys(key, self.before), strict=True):
                if place in self.changes.left and self._shows(key) and self._shows(self.before.keys[source]):
                    gone.append((self._row(place[0]), self._row(key), label))
        return gone

    def _gaps(self) -> dict[int, int]:
        """For each row that stands for several nodes, the number of nodes."""
        counts: dict[int, int] = {}
        for key, place in self.places[self.at].items():
            if not self._shows(key):
                counts[self.folded[place]] = counts.get(self.folded[place], 0) + 1
        return counts

    def entries(self) -> list[Entry]:
        found: dict[int, Entry] = dict(self._gaps())
        for key, node in self.snapshot.nodes.items():
            if self._shows(key):
                found[self._row(key)] = (key, node)
        for key, words in self.changes.marks.items():
            if "removed" in words and self._shows(key):
                found[self._row(key)] = (key, self.before.nodes[key])
        return [found[row] for row in sorted(found)]

    def remarks(self, inside: Sequence[str]) -> list[str]:
        told = list(self.changes.sentences[:_MOST_SENTENCES])
        more = len(self.changes.sentences) - len(told)
        told += [f"and {more} more change{'s' if more > 1 else ''}"] if more else []
        told += inside
        if self.before and self.before.record.stale and not self.snapshot.record.stale:
            told.append("↻ forward is recompiled")
        if self.wanted is not None and not self.at:
            told.append(f"Of {len(self.snapshot.keys)} nodes, those that change are shown, and their neighbours")
        lint = self.snapshot.record.lint
        told.append(f"! lint: {clean(lint, 300)}" if lint else "✓ lint finds no fault")
        if self.snapshot.compiled:
            stale = "! stale: forward still runs the old code; call recompile()"
            told.append(stale if self.snapshot.record.stale else "✓ forward is up to date with the graph")
        return told
