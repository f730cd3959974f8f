"""A run as plain text: a table of its nodes, and sentences for a frame's caption."""

from __future__ import annotations

from collections.abc import Sequence

from fxbook.drawing.lettering import clean, columns, cut, pad, wrap
from fxbook.graph.record import GraphRecord
from fxbook.stepping.run.states import freed_at, size
from fxbook.stepping.run.subject import Subject

_WIDTH = 100
_MOST_ROWS = 200


def text_table(subjects: Sequence[Subject]) -> str:
    """One row per node: its result, and for each run the bytes alive after it and what was freed."""
    one, graph = len(subjects) == 1, subjects[0].graph
    heads = ["#", "node", "result"]
    for subject in subjects:
        heads += ["alive", "freed after it"] if one else [f"{subject.label}: alive", "freed"]
    rows = [heads, *(_row(subjects, index) for index in range(min(len(graph), _MOST_ROWS)))]
    widths = [max(columns(row[at]) for row in rows) for at in range(len(heads))]
    # Columns shrink in this order, down to these widths.
    for at, least in ((4, 24), (6, 16), (2, 24), (1, 14), (4, 14), (2, 14), (1, 10), (3, 8), (5, 8)):
        if at < len(widths):
            spare = sum(widths) + 2 * (len(widths) - 1) - _WIDTH
            widths[at] -= max(0, min(spare, widths[at] - least))
    lines = ["  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    more = len(graph) - _MOST_ROWS
    return "\n".join([*lines, *([f"and {more} more nodes"] if more > 0 else [])])


def _row(subjects: Sequence[Subject], index: int) -> list[str]:
    values = [value for subject in subjects if (value := subject.run.values[index]) is not None]
    row = [str(index), _name(subjects[0].graph, index), values[0].described.kind if values else "did not run"]
    for subject in subjects:
        ran = index < subject.run.steps
        row += [size(subject.bytes_after(index)) if ran else "-", freed_text(subject, index) if ran else ""]
    return row


def freed_text(subject: Subject, step: int) -> str:
    """What was freed after the step: ``a (16 B), add (16 B)``; empty if nothing was."""
    freed = freed_at(subject.run, subject.graph, step)
    more = f" and {len(freed) - 3} more" if len(freed) > 3 else ""
    return ", ".join(f"{name} ({size(nbytes)})" for name, nbytes in freed[:3]) + more


def closing_lines(subjects: Sequence[Subject], errors: bool = True) -> list[str]:
    """Remarks on each whole run: its peak and where it was reached, what is left, and the error that it raised."""
    lines = []
    for subject in subjects:
        run, prefix = subject.run, f"{subject.label}: " if len(subjects) > 1 else ""
        most = f"{prefix}at most" if prefix else "At most"
        if run.peak_step is not None:
            at = _name(subject.graph, run.peak_step)
            left = "" if run.left is None else f"; {size(run.left)} when the run had returned"
            lines.append(f"{most} {size(run.peak)} alive, at {at}{left}.")
        if run.error and errors:
            lines.append(f"{prefix}{error_text(subject)}")
    return [line for text in lines for part in text.split("\n") for line in wrap(part, _WIDTH, 4)]


def error_text(subject: Subject) -> str:
    run = subject.run
    if run.failed is not None:
        return f"{_name(subject.graph, run.failed)} raised {run.error}"
    return f"After the last node: {run.error}" if run.steps else f"No node ran: {run.error}"


def caption(subjects: Sequence[Subject], span: range) -> str:
    first = subjects[0]
    parts = [_made(first, span)]
    if len(subjects) == 1:
        went = [name for step in span for name, _ in freed_at(first.run, first.graph, step)]
        parts += [f"Freed after it: {_listed(went)}."] if went else []
    alive = [size(subject.bytes_after(span[-1])) for subject in subjects]
    labels = [f"{subject.label} " for subject in subjects] if len(subjects) > 1 else [""]
    together = ", ".join(label + text for label, text in zip(labels, alive, strict=True))
    return " ".join([*parts, f"Alive now: {together}."])


def _made(subject: Subject, span: range) -> str:
    graph, run = subject.graph, subject.run
    if span[0] >= len(graph):
        return f"{subject.label} has ended."
    if len(span) > 1:
        last = min(span[-1], len(graph) - 1)
        return f"Nodes {span[0]} to {last} ran, {_name(graph, span[0])} to {_name(graph, last)}."
    node, name, value = graph.nodes[span[0]], _name(graph, span[0]), run.values[span[0]]
    if value is None:
        raised = f"raised an error: {cut(clean(node.call), 80)}" if span[0] == run.failed else "did not run"
        return f"{name} {raised}."
    kind = cut(value.described.kind, 60)
    if node.op == "placeholder":
        return f"{name}, an input, {'is in place before the first node' if value.made < 0 else 'comes in'}: {kind}."
    if node.op == "output":
        return f"{name}: the result is {kind}."
    return f"{name}: {cut(clean(node.call), 60)} gives {kind}."


def _listed(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _name(graph: GraphRecord, index: int) -> str:
    return cut(clean(graph.nodes[index].name), 40)
