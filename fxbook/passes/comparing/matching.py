"""Pair the nodes of two graphs: by what a node computes, by how its value is used, and by name.

Names alone mislead, because a new trace numbers its nodes again. So the first nodes to be paired are those whose
ancestors are all equal, or whose descendants are.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable

from fxbook.graph.record import GraphRecord, NodeRecord

Pairs = dict[int, int]
"""Maps the index of a node in the second graph to its index in the first."""


def matched(before: GraphRecord, after: GraphRecord) -> Pairs:
    return _Matching(before, after).pairs


class _Matching:
    def __init__(self, before: GraphRecord, after: GraphRecord) -> None:
        self.before, self.after = before, after
        self.pairs: Pairs = {}
        self._taken: set[int] = set()
        above, below = ([of(record) for record in (before, after)] for of in (_above, _below))
        self._alike(lambda side, node: _end(node))
        # Among nodes that compute the same value or are used in the same way, those with equal names are paired first.
        self._alike(lambda side, node: (node.name, above[side][node.index]))
        self._alike(lambda side, node: (node.name, below[side][node.index]))
        self._alike(lambda side, node: above[side][node.index])
        self._alike(lambda side, node: below[side][node.index])
        self._alike(lambda side, node: (node.name, node.op, node.target))
        self._by_neighbours()
        self._alike(lambda side, node: (node.name, node.op))
        self._by_neighbours()

    def _alike(self, key: Callable[[int, NodeRecord], Hashable]) -> None:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for node in self.before:
            if node.index not in self.pairs and (own := key(0, node)) is not None:
                waiting[own].append(node.index)
        for node in self.after:
            if node.index not in self._taken and waiting.get(own := key(1, node)):
                self._pair(waiting[own].popleft(), node.index)

    def _pair(self, old: int, new: int) -> None:
        self.pairs[old] = new
        self._taken.add(new)

    def _by_neighbours(self) -> None:
        """Pair the nodes at the same argument position of paired nodes, then the users of paired nodes, and so on."""
        waiting = list(self.pairs.items())
        while waiting:
            old, new = waiting.pop()
            first, second = self.before.nodes[old], self.after.nodes[new]
            beside = list(zip(first.inputs, second.inputs, strict=False))
            beside += self._readers(first, second)
            for a, b in beside:
                if a not in self.pairs and b not in self._taken and self._same_kind(a, b):
                    self._pair(a, b)
                    waiting.append((a, b))

    def _same_kind(self, old: int, new: int) -> bool:
        first, second = self.before.nodes[old], self.after.nodes[new]
        if first.op != second.op:
            return False
        # A layer or a weight may have moved to another path.
        by_path = first.op in ("call_module", "get_attr") and first.kind == second.kind
        return first.target == second.target or by_path

    def _readers(self, old: NodeRecord, new: NodeRecord) -> list[tuple[int, int]]:
        """The users of two nodes, paired if all their inputs are; fast, since a weight may have thousands of users."""
        waiting: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for index in new.users:
            if index not in self._taken:
                waiting[self.after.nodes[index].inputs].append(index)
        found = []
        for index in old.users if waiting else ():
            if index not in self.pairs:
                reads = tuple(self.pairs.get(read, -1) for read in self.before.nodes[index].inputs)
                found += [(index, reader) for reader in waiting.get(reads, ())]
        return found


def _end(node: NodeRecord) -> Hashable | None:
    match node.op:
        case "placeholder":
            return node.op, node.target
        case "output":
            return node.op
    return None


def _above(record: GraphRecord) -> dict[int, int]:
    """For each node, a hash of its call and of everything that it depends on."""
    found: dict[int, int] = {}
    for node in record:
        found[node.index] = hash((*_call_key(node), tuple(found.get(index, -1) for index in node.inputs)))
    return found


def _below(record: GraphRecord) -> dict[int, int]:
    """For each node, a hash of its call and of everything that depends on it."""
    found: dict[int, int] = {}
    for node in reversed(record.nodes):
        users = []
        for index in node.users:
            places = tuple(at for at, read in enumerate(record.nodes[index].inputs) if read == node.index)
            users.append((found.get(index, -1), places))
        found[node.index] = hash((*_call_key(node), tuple(sorted(users))))
    return found


def _call_key(node: NodeRecord) -> tuple[Hashable, ...]:
    """What a node calls, and its arguments other than nodes."""
    return node.op, node.target, node.kind, repr(node.constants)
