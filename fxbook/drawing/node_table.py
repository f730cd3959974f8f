"""A graph as a table of its nodes: as HTML, the text alternative to a drawing, and as plain text for a terminal."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from fxbook.drawing.lettering import clean, columns, pad
from fxbook.graph.record import GraphRecord, NodeRecord

_HEADERS = ("#", "name", "opcode", "call", "users", "notes")
_WIDTH = 100
_MOST_READERS = 8


def html_table(record: GraphRecord, words: Mapping[int, list[str]], numbers: Sequence[int]) -> str:
    """A ``<table>`` with a row per node; ``words`` holds notes on nodes, ``numbers`` their list positions, by index."""
    head = "".join(f'<th scope="col">{header}</th>' for header in _HEADERS)
    rows = []
    for node in record:
        index, name, op, call, readers, notes = (html.escape(text) for text in _cells(record, node, words, numbers))
        rows.append(
            f'<tr><td>{index}</td><th scope="row">{name}</th><td>{op}</td><td><code>{call}</code></td>'
            f"<td>{readers}</td><td>{notes}</td></tr>"
        )
    return f'<table class="fx-table"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def text_table(record: GraphRecord, words: Mapping[int, list[str]], numbers: Sequence[int]) -> str:
    """The table as plain text, at most 100 columns wide."""
    rows = [_HEADERS, *(_cells(record, node, words, numbers) for node in record)]
    widths = [max(columns(row[at]) for row in rows) for at in range(len(_HEADERS))]
    # Columns shrink in this order, down to these widths.
    for at, least in ((3, 40), (4, 20), (5, 24), (3, 24), (1, 16), (5, 12), (4, 8)):
        spare = sum(widths) + 2 * (len(widths) - 1) - _WIDTH
        widths[at] -= max(0, min(spare, widths[at] - least))
    return "\n".join(
        "  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _cells(
    record: GraphRecord, node: NodeRecord, words: Mapping[int, list[str]], numbers: Sequence[int]
) -> tuple[str, ...]:
    call = clean(node.call) + (f" : {clean(node.kind)}" if node.kind else "")
    readers = [clean(record.nodes[user].name, 60) for user in node.users[:_MOST_READERS]]
    more = len(node.users) - _MOST_READERS
    readers += [f"and {more} more"] if more > 0 else []
    notes = "; ".join(words.get(node.index, []))
    return str(numbers[node.index]), clean(node.name, 120), node.op, call, ", ".join(readers), notes
