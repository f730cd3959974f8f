"""The tables in a frame of a run: the node's arguments and result, and the state of every value."""

from __future__ import annotations

import html
from collections.abc import Sequence

from fxbook.drawing.lettering import clean, cut
from fxbook.graph.record import NodeRecord
from fxbook.stepping.run.states import SIGNS, Kind, State, size, state_after
from fxbook.stepping.run.subject import Subject

MOST_ROWS = 20
"""The maximum number of values in a table; the largest and those that have just changed are shown."""
_FEWER_ROWS = 12
_MEANINGS: tuple[tuple[Kind, str], ...] = (
    ("made", "made by this node"),
    ("alive", "alive"),
    ("stored", "stored in the module"),
    ("shared", "dropped, but its memory lives on in another value"),
    ("kept", "dropped by the interpreter, but something else holds its memory"),
    ("freed", "freed after this node"),
    ("gone", "freed before"),
)
LEGEND = (
    "thick outline: this node",
    *(f'<span class="fx-mark">{SIGNS[kind]}</span> {text}' for kind, text in _MEANINGS),
)
"""The meaning of the signs, as HTML."""


def node_table(subject: Subject, span: range, label: str = "") -> str:
    nodes = subject.graph.nodes
    if len(span) == 1 and span[0] < len(nodes):
        node = nodes[span[0]]
        rows = [("reads", nodes[index]) for index in dict.fromkeys(node.inputs)] + [("gives", node)]
    else:
        rows = [("gives", nodes[index]) for index in span if index < len(nodes)]
    shown, more = rows[: _FEWER_ROWS - 1] + rows[-1:], len(rows) - _FEWER_ROWS
    if more <= 0:
        shown = rows
    body = "".join(_node_row(subject, word, node) for word, node in shown)
    if more > 0:
        body += f'<tr><td></td><td colspan="2">and {more} more nodes of this group</td></tr>'
    if not rows:
        body = '<tr><td></td><td colspan="2">this run has ended</td></tr>'
    heading = f'<p class="fx-heading">{_e(label)}</p>' if label else ""
    return heading + _table(("", "value", "first numbers"), body, name="fx-list fx-values")


def _node_row(subject: Subject, word: str, node: NodeRecord) -> str:
    run = subject.run
    value = run.values[node.index]
    if value is None:
        raised = run.error is not None and node.index == run.failed
        kind, glimpse = ("nothing: it raised" if raised else "nothing: it has not run"), ""
    else:
        kind, glimpse = value.described.kind, value.described.glimpse
    key = subject.keys[node.index]
    return (
        f'<tr data-fx-node="{key}"><td class="fx-sign">{word}</td>{_named(node, kind)}'
        f"<td><code>{_e(glimpse)}</code></td></tr>"
    )


def value_table(subjects: Sequence[Subject], span: range) -> str:
    """Every value with its state after the span's last step, a column for each run, and below them the live bytes."""
    graph, step = subjects[0].graph, span[-1]
    states = [
        [state_after(subject.run, graph, index, subject.at(step)) for index in range(len(graph))]
        for subject in subjects
    ]
    shown = _chosen(states, span)
    one = len(subjects) == 1
    body = ""
    for index in shown:
        node = graph.nodes[index]
        key = subjects[0].keys[index]
        reads = " ".join(str(read) for read in dict.fromkeys(subjects[0].keys[i] for i in node.inputs) if read != key)
        own = [column[index] for column in states]
        now = " fx-current" if index in span else ""
        values = [value for subject in subjects if (value := subject.run.values[index]) is not None]
        kind = values[0].described.kind if values else ""
        known = kind if any(state.kind not in ("later", "waiting", "raised") for state in own) else ""
        cells = _single_cells(own[0]) if one else "".join(f"<td>{_state(state, True)}</td>" for state in own)
        body += (
            f'<tr class="fx-is-{own[0].kind}{now}" data-fx-name="{_name(node)}" data-fx-node="{key}" '
            f'data-fx-reads="{reads}"><td class="fx-sign">{index}</td>{_named(node, known)}{cells}</tr>'
        )
    left_out = len(graph) - len(shown)
    if left_out:
        wide = 3 if one else 1 + len(subjects)
        body += f'<tr><td></td><td colspan="{wide}">and {left_out} more: not yet made, freed, or small</td></tr>'
    heads = ("#", "value", *(("bytes", "state") if one else (subject.label for subject in subjects)))
    return _table(heads, body, _totals(subjects, step))


def _single_cells(state: State) -> str:
    nbytes = "" if state.kind in ("later", "stored", "gone", "freed", "raised") else size(state.nbytes)
    return f'<td class="fx-bytes">{nbytes}</td><td>{_state(state, False)}</td>'


def _state(state: State, with_bytes: bool) -> str:
    text = f"{state.word}, {size(state.nbytes)}" if with_bytes and state.nbytes else state.word
    why = f" ({_e(state.why)})" if state.why else ""
    return f'<span class="fx-mark" aria-hidden="true">{state.sign}</span> {_e(text)}{why}'


def _totals(subjects: Sequence[Subject], step: int) -> str:
    def row(title: str, numbers: list[int]) -> str:
        cells = "".join(f'<td class="fx-bytes">{size(number)}</td>' for number in numbers)
        rest = "<td></td>" if len(subjects) == 1 else ""
        return f'<tr><td></td><th scope="row">{title}</th>{cells}{rest}</tr>'

    stored = [subject.run.in_module for subject in subjects]
    rows = row("alive now", [subject.bytes_after(step) for subject in subjects])
    return rows + (row("stored in the module", stored) if any(stored) else "")


def _chosen(states: list[list[State]], span: range) -> list[int]:
    count = len(states[0])
    if count <= MOST_ROWS:
        return list(range(count))

    def weight(index: int) -> tuple[bool, int]:
        own = [column[index] for column in states]
        changed = any(state.kind in ("freed", "raised") for state in own) or index == span[-1]
        return changed, max(state.nbytes for state in own)

    telling = [index for index in range(count) if weight(index) > (False, 0)]
    return sorted(sorted(telling, key=weight, reverse=True)[:_FEWER_ROWS])


def _table(heads: Sequence[str], body: str, foot: str = "", name: str = "fx-list") -> str:
    head = "".join(f'<th scope="col">{_e(text)}</th>' if text else "<td></td>" for text in heads)
    foot = f"<tfoot>{foot}</tfoot>" if foot else ""
    return f'<table class="fx-table {name}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table>'


def _named(node: NodeRecord, kind: str) -> str:
    below = f'<span class="fx-opcode">{_e(cut(kind, 80))}</span>' if kind else ""
    return f'<th scope="row">{_name(node)}{below}</th>'


def _name(node: NodeRecord) -> str:
    return _e(cut(clean(node.name), 40))


def _e(text: str) -> str:
    return html.escape(text)
