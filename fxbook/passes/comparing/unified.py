"""A difference as text, as in a code review: one line per node, either removed, added, or context."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fxbook.graph.record import NodeRecord
from fxbook.stepping.edit.rows import union_rows
from fxbook.stepping.edit.snapshot import Snapshot

if TYPE_CHECKING:
    from fxbook.passes.comparing.difference import Diff

_MOST = 160
Line = tuple[str, str]
"""A sign and the text after it."""


def unified(found: Diff, snapshots: tuple[Snapshot, Snapshot], context: int) -> str:
    """The text of a difference, with ``context`` unchanged lines around each change."""
    was, now = snapshots
    if not found:
        told = (
            " (both are the same object: keep a copy before a pass that edits in place)" if found._same_object else ""
        )
        return f"no difference: {_counted(len(was.keys))} alike{told}"
    lines = _lines(found, was, now)
    parts = [_headline(found, was, now), *(f"~ {line}" for line in found.lines_of_all()), *_folded(lines, context)]
    for name, inner in found.inside.items():
        parts.append(f"inside {name}:")
        parts += [f"    {line}" for line in inner.text(context).splitlines()]
    return "\n".join(parts)


def _headline(found: Diff, was: Snapshot, now: Snapshot) -> str:
    counts = {
        "added": len(found.added),
        "removed": len(found.removed),
        "changed": sum(set(aspects) != {"meta"} for aspects in found.changed.values()),
        "changed only in meta": sum(set(aspects) == {"meta"} for aspects in found.changed.values()),
        "moved": len(found.moved),
        "changed inside": len(found.inside),
        "of meta in all nodes": len(found.everywhere),
    }
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    before, after = len(was.keys), len(now.keys)
    return f"{told}; " + (f"of {_counted(before)}" if before == after else f"{before} nodes before, {after} after")


def _counted(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def _lines(found: Diff, was: Snapshot, now: Snapshot) -> list[Line]:
    """A line for each node of either graph, in an order that respects both."""
    rows, (old_rows, new_rows), _ = union_rows([was.keys, now.keys])
    by_row: list[list[Line]] = [[] for _ in rows]
    for key, row in old_rows.items():
        node = was.nodes[key]
        new = now.nodes.get(key)
        if new is None or new_rows[key] != row:
            by_row[row].append(("-", _text(node) + ("  # moved" if new else "")))
    for key, row in new_rows.items():
        by_row[row] += _of_pair(found, was.nodes.get(key), now.nodes[key], moved=old_rows.get(key, row) != row)
    return [line for lines in _removed_first(by_row) for line in lines]


def _removed_first(rows: Sequence[list[Line]]) -> list[list[Line]]:
    """The rows, reordered so that removed lines come before adjacent added ones."""
    ordered: list[list[Line]] = []
    for lonely, run in itertools.groupby(rows, lambda lines: len(lines) == 1 and lines[0][0] in "+-"):
        together = list(run)
        ordered += sorted(together, key=lambda lines: lines[0][0] == "+") if lonely else together
    return ordered


def _of_pair(found: Diff, old: NodeRecord | None, new: NodeRecord, *, moved: bool) -> list[Line]:
    if old is None:
        return [("+", _text(new))]
    aspects = found.changed.get(new.name, {})
    # Differences that the line itself does not show are appended to it.
    said = [f"{what}: {aspects[what][0]} → {aspects[what][1]}" for what in ("op", "module") if what in aspects]
    if "meta" in aspects and not moved:
        said.append(f"meta: {aspects['meta'][0]} → {aspects['meta'][1]}")
    if new.name in found.inside:
        said.append("see below")
    note = f"  # {'; '.join(said)}" if said else ""
    if moved:
        return [("+", f"{_text(new)}  # moved{'; ' + '; '.join(said) if said else ''}")]
    if _text(old) != _text(new) and set(aspects) - {"meta"}:
        return [("-", _text(old)), ("+", _text(new) + note)]
    return [("~" if said else " ", _text(new) + note)]


def _text(node: NodeRecord) -> str:
    match node.op:
        case "placeholder":
            text = f"input {node.call}"
        case "output":
            text = node.call
        case _:
            text = f"{node.name} = {node.call}"
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"


def _folded(lines: Sequence[Line], context: int) -> list[str]:
    """The changed lines with their context; each run of other lines is replaced by a line that counts them."""
    near = {
        beside for at, (sign, _) in enumerate(lines) if sign != " " for beside in range(at - context, at + context + 1)
    }
    folded, left_out = [], 0
    for at, (sign, text) in enumerate(lines):
        if at not in near:
            left_out += 1
            continue
        if left_out:
            folded.append(f"  … {_counted(left_out)}")
            left_out = 0
        folded.append(f"{sign} {text}")
    return [*folded, *([f"  … {_counted(left_out)}"] if left_out else [])]
