"""Draw the graph of a run as an animation: in each frame the node that ran, and the state of every value."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from fxbook.stepping.animation import Animation
from fxbook.stepping.graph_frame import GraphFrame, animation_of, still
from fxbook.stepping.run.states import SIGNS, Kind, State, size, state_after
from fxbook.stepping.run.subject import Subject

_FOREMOST: tuple[Kind, ...] = (
    "raised",
    "made",
    "alive",
    "stored",
    "shared",
    "kept",
    "waiting",
    "freed",
    "gone",
    "later",
)


def animation(subjects: Sequence[Subject], spans: Sequence[range]) -> Animation:
    """The drawing, one frame per span of steps; runs of one graph are drawn on it together."""
    label = f"Graph of the run, {len(subjects[0].drawn)} nodes in list order"
    drawing = animation_of([_graph_frame(subjects, span) for span in spans], label)
    for frame, span in enumerate(spans):
        if len(span):
            names = [node.name for node in subjects[0].graph.nodes[span.start : span.stop]]
            drawing.label(frame, f"{label}; now {', '.join(names[:3])}{' and more' if len(names) > 3 else ''}")
    return drawing


def _graph_frame(subjects: Sequence[Subject], span: range) -> GraphFrame:
    drawn, rows = subjects[0].drawn, subjects[0].rows
    now = {index for index, row in enumerate(rows) if set(row) & set(span)}
    words: dict[int, list[str]] = {}
    classes: dict[int, list[str]] = {}
    for index, row in enumerate(rows):
        looks = [_look(subject, row, span, "" if len(subjects) == 1 else subject.label) for subject in subjects]
        words[index] = [look for look, _ in looks]
        kinds = {kind for _, kind in looks}
        # If two runs differ, the node looks as in the one that still has the value.
        kind = next(kind for kind in _FOREMOST if kind in kinds)
        classes[index] = [f"fx-is-{kind}", *(["fx-current"] if index in now else [])]
    flow = {(source, index): ["fx-flow"] for index in now for source in drawn.nodes[index].inputs}
    graph_frame = still(drawn, words, classes, flow)
    seen = {row: dataclasses.replace(one, key=subjects[0].first_key + one.key) for row, one in graph_frame.seen.items()}
    return dataclasses.replace(graph_frame, seen=seen)


def _look(subject: Subject, row: range, span: range, label: str) -> tuple[str, Kind]:
    """The words on a drawn node, and its state; for a run with a label, only the label and the sign of the state."""
    if not len(span):
        return "· not yet", "later"
    states = [state_after(subject.run, subject.graph, index, subject.at(span[-1])) for index in row]
    if len(states) == 1:
        return f"{states[0].sign} {label}" if label else states[0].brief, states[0].kind
    words, kind = _summary(states)
    return (f"{label} {words}" if label else words), kind


def _summary(states: list[State]) -> tuple[str, Kind]:
    """The state of a group of nodes: how many of its values are alive, and their bytes."""
    living = [state for state in states if state.kind in ("made", "alive", "shared", "kept", "waiting")]
    if any(state.kind == "raised" for state in states):
        return f"{SIGNS['raised']} raised", "raised"
    if living:
        return f"{SIGNS['alive']} {len(living)} alive, {size(sum(state.nbytes for state in living))}", "alive"
    kind = Counter(state.kind for state in states).most_common(1)[0][0]
    return (f"{SIGNS['later']} not yet", "later") if kind == "later" else (f"{SIGNS['gone']} all freed", "gone")
