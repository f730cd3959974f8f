"""Check a filter that rejects matches with a write before their first user."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.returned import bool_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

# Maps the target of each pattern's last node to the targets of the inner nodes that it uses.
_INNER = {"torch.sigmoid": ["torch.exp"], "addcmul_": ["torch.exp", "torch.tanh"]}


def write_across(graph: GraphRecord, last: NodeRecord) -> NodeRecord | None:
    """The first node that writes inside the match that ends with ``last``, or between ``last`` and its first user."""
    inside = {*_inner(last), last.index}
    between = graph.nodes[min(inside) : min(last.users, default=last.index)]
    return next((node for node in between if node.index not in inside and writes(node)), None)


def _inner(last: NodeRecord) -> tuple[int, ...]:
    """The indices of the nodes of a match that its last node uses."""
    return tuple(last.inputs[: len(_INNER.get(last.target, []))])


def writes(node: NodeRecord) -> bool:
    """Whether a node calls a function or method whose name ends with an underscore."""
    return node.op in ("call_function", "call_method") and node.target.endswith("_")


def ends_of_matches(graph: GraphRecord) -> list[NodeRecord]:
    """The last node of each match, in order."""
    return [
        node
        for node in graph
        if (inner := [graph.nodes[index] for index in _inner(node)])
        and [used.target for used in inner] == _INNER[node.target]
        and all(used.users == (node.index,) for used in inner)
    ]


@rule("12_patterns#decide-match-by-match")
def rejects_matches_across_writes(case: CaseView) -> Found:
    """The filter returns ``False`` for a match with a write before its first user, and ``True`` for all others."""
    ends = ends_of_matches(case.before)
    verdicts = case.value
    if not isinstance(verdicts, list) or len(verdicts) != len(ends):
        yield None, "The filter was not called for each match."
        return
    for returned, last in zip(verdicts, ends, strict=True):
        verdict = bool_of(returned)
        matched = f"the match that ends with `{last.name}`"
        end = "the first user" if last.users else f"`{last.name}`, which has no users"
        if verdict is None:
            yield None, f"For {matched}, the filter returns neither True nor False."
            return
        write = write_across(case.before, last)
        if verdict and write:
            yield write, f"The filter accepts {matched}, although `{write.name}` writes before {end}."
        if not verdict and not write:
            first = case.before.nodes[min(_inner(last))]
            between = f"between `{first.name}` and {end}"
            yield last, f"The filter rejects {matched}, although no other node writes {between}."


CHECK = Check((rejects_matches_across_writes,))
