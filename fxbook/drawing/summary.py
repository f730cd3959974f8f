"""Shrink a graph that is too large to draw into groups of consecutive nodes, as a record that can be drawn."""

from __future__ import annotations

import itertools
from collections import Counter

from fxbook.graph.record import GraphRecord, NodeRecord

SUMMARY_ABOVE = 400
"""Larger graphs are drawn in groups."""
MAX_GROUPS = 30
"""The maximum number of groups in a summary, if the modules allow it."""


def summarise(record: GraphRecord) -> tuple[GraphRecord, list[range]]:
    """The groups of a graph as a separate record, and the rows of the graph that each group stands for.

    A group is a run of nodes from one submodule, as deep in the module tree as :data:`MAX_GROUPS` allows. If even the
    outermost modules give more groups, or if nodes have no module, groups are runs of equal length. Inputs and outputs
    stay separate.
    """
    rows = _by_scope(record) or _by_runs(record)
    home = {index: at for at, group in enumerate(rows) for index in group}
    inputs = [list(dict.fromkeys(home[i] for row in group for i in record.nodes[row].inputs)) for group in rows]
    # The edges within a group are drawn only if one of its nodes is at fault.
    inputs = [[i for i in reads if i != at] for at, reads in enumerate(inputs)]
    users: list[list[int]] = [[] for _ in rows]
    for at, reads in enumerate(inputs):
        for i in reads:
            users[i].append(at)
    nodes = tuple(_group(record, at, group, inputs[at], users[at]) for at, group in enumerate(rows))
    return GraphRecord(nodes, record.lint, record.stale), rows


def _by_scope(record: GraphRecord) -> list[range] | None:
    scopes = [node.scope.split(".") if node.scope else [] for node in record]
    for depth in range(max(map(len, scopes), default=0), 0, -1):
        rows = _runs(record, [".".join(scope[:depth]) for scope in scopes])
        if len(rows) <= MAX_GROUPS:
            return rows
    return None


def _by_runs(record: GraphRecord) -> list[range]:
    ends = sum(node.op in ("placeholder", "output") for node in record)
    size = -(-len(record) // max(MAX_GROUPS - min(ends, 4), 1))
    return _runs(record, [str(node.index // size) for node in record])


def _runs(record: GraphRecord, keys: list[str]) -> list[range]:
    rows, start = [], 0
    ends = [node.op if node.op in ("placeholder", "output") else "" for node in record]
    for _, run in itertools.groupby(zip(ends, keys, strict=True)):
        stop = start + len(list(run))
        rows.append(range(start, stop))
        start = stop
    return rows


def _group(record: GraphRecord, at: int, rows: range, inputs: list[int], users: list[int]) -> NodeRecord:
    nodes = [record.nodes[row] for row in rows]
    first = nodes[0]
    if len(nodes) == 1:
        name, op, call, target = first.name, first.op, first.call, first.target
    else:
        scope = _shared([node.scope for node in nodes])
        op = first.op if first.op in ("placeholder", "output") else "group"
        span = f"nodes {rows[0]} to {rows[-1]}"
        counts = ", ".join(f"{count} {kind}" for kind, count in Counter(node.op for node in nodes).most_common())
        name, call, target = (scope or span), (f"{span}: {counts}" if scope else counts), scope
    return NodeRecord(
        index=at,
        name=name,
        op=op,
        target=target,
        kind=None,
        call=call,
        args={"tuple": [{"node": i} for i in inputs]},
        kwargs={"dict": []},
        inputs=tuple(inputs),
        users=tuple(dict.fromkeys(users)),
        notes=tuple(f"{count} {note}" for note, count in Counter(n for node in nodes for n in node.notes).items()),
        faults=tuple(itertools.islice((f"{node.name} {fault}" for node in nodes for fault in node.faults), 3)),
        scope=first.scope,
    )


def _shared(scopes: list[str]) -> str:
    paths = [scope.split(".") for scope in scopes]
    return ".".join(parts[0] for parts in itertools.takewhile(lambda p: len(set(p)) == 1, zip(*paths, strict=False)))
