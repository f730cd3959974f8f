"""The list of nodes as a panel: a row per node, with its changes."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from fxbook.drawing.lettering import clean
from fxbook.graph.record import NodeRecord
from fxbook.stepping.edit.changes import MARKS, Changes
from fxbook.stepping.edit.snapshot import Snapshot

_MOST_READERS = 6
_JOINT = re.compile(r"([._(])(?=\w)")
Entry = tuple[int, NodeRecord] | int
"""A node with its key, or the number of nodes that are left out here."""


def list_panel(entries: Sequence[Entry], snapshot: Snapshot, changes: Changes) -> str:
    rows = "".join(_gap(entry) if isinstance(entry, int) else _row(*entry, snapshot, changes) for entry in entries)
    head = "".join(f'<th scope="col">{text}</th>' for text in ("#", "node", "what it does", "users"))
    return f'<table class="fx-table fx-list"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def notes_of(key: int, node: NodeRecord, changes: Changes) -> list[str]:
    """Remarks on a node apart from its call: its changes, faults and notes."""
    marks = changes.marks.get(key, ())
    told = [
        f"{MARKS[mark]} {changes.details[key] if mark == 'rewired' and key in changes.details else mark}"
        for mark in marks
    ]
    return told if "removed" in marks else [*told, *(f"! {fault}" for fault in node.faults), *node.notes]


def _row(key: int, node: NodeRecord, snapshot: Snapshot, changes: Changes) -> str:
    here = key in snapshot.nodes
    marks = changes.marks.get(key, ())
    signs = "".join(dict.fromkeys(MARKS[mark] for mark in marks)) + ("!" if here and node.faults else "")
    classes = "".join(f" fx-{mark}" for mark in marks) + (" fx-broken" if here and node.faults else "")
    reads = " ".join(str(snapshot.keys[index]) for index in dict.fromkeys(node.inputs)) if here else ""
    readers = _readers(node, snapshot) if here else ""
    told = (html.escape(clean(text)) for text in notes_of(key, node, changes))
    notes = "".join(f'<span class="fx-said">{text}</span> ' for text in told)
    kind = f" : {clean(node.kind, 60).removeprefix('torch.')}" if node.kind else ""
    call = _breakable(clean(node.call, 120) + kind)
    name = clean(node.name, 60)
    return (
        f'<tr class="fx-row{classes}" data-fx-node="{key}" data-fx-name="{html.escape(name)}" data-fx-reads="{reads}">'
        f'<td class="fx-sign"><b>{signs}</b> {node.index if here else ""}</td>'
        f'<th scope="row">{_breakable(name)} <span class="fx-opcode">{node.op}</span></th>'
        f"<td><code>{call}</code> {notes}</td><td>{_breakable(readers)}</td></tr>"
    )


def _breakable(text: str) -> str:
    return _JOINT.sub(r"\1<wbr/>", html.escape(text))


def _readers(node: NodeRecord, snapshot: Snapshot) -> str:
    names = [clean(snapshot.record.nodes[user].name, 60) for user in node.users[:_MOST_READERS]]
    more = len(node.users) - _MOST_READERS
    return ", ".join([*names, *([f"and {more} more"] if more > 0 else [])])


def _gap(count: int) -> str:
    nodes = "node" if count == 1 else "nodes"
    return f'<tr class="fx-gap"><td>⋮</td><td colspan="3">{count} {nodes} not shown</td></tr>'


def words_on(key: int, node: NodeRecord, changes: Mapping[int, tuple[str, ...]]) -> tuple[str, ...]:
    marks = changes.get(key, ())
    told = [f"{MARKS[mark]} {mark}" for mark in marks]
    return tuple(told) if "removed" in marks else (*told, *(f"! {fault}" for fault in node.faults), *node.notes)
