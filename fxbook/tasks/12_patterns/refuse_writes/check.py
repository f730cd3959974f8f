"""Reject a match across a write."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

# What the result of each pattern reads, keyed by the target of the result.
_READS = {"torch.sigmoid": ["torch.exp"], "addcmul_": ["torch.exp", "torch.tanh"]}


def write_across(graph: GraphRecord, last: NodeRecord) -> NodeRecord | None:
    """The first node that writes inside the match ending with ``last``, or between ``last`` and its first user."""
    inside = {*_inner(last), last.index}
    between = graph.nodes[min(inside) : min(last.users, default=last.index)]
    return next((node for node in between if node.index not in inside and writes(node)), None)


def _inner(last: NodeRecord) -> tuple[int, ...]:
    """The indices of what the result of a match reads, without the values of the pattern's parameters."""
    return tuple(last.inputs[: len(_READS.get(last.target, []))])


def writes(node: NodeRecord) -> bool:
    """Whether a node calls something whose name ends with an underscore."""
    return node.op in ("call_function", "call_method") and node.target.endswith("_")


def ends_of_matches(graph: GraphRecord) -> list[NodeRecord]:
    """The last node of each match, in order."""
    return [
        node
        for node in graph
        if (inner := [graph.nodes[index] for index in _inner(node)])
        and [read.target for read in inner] == _READS[node.target]
        and all(read.users == (node.index,) for read in inner)
    ]


@rule("12_patterns#decide-match-by-match")
def refuses_what_is_crossed(case: CaseView) -> Found:
    """The filter returns ``False`` for a match with a write before its first user, and ``True`` for others."""
    ends = ends_of_matches(case.before)
    match case.value:
        case list(verdicts) if len(verdicts) == len(ends):
            pass
        case _:
            yield None, "The filter was not called for each match."
            return
    for verdict, last in zip(verdicts, ends, strict=True):
        if not isinstance(verdict, bool):
            yield None, f"For the match that ends with `{last.name}`, the filter returns neither True nor False."
            return
        crossing = write_across(case.before, last)
        if verdict and crossing:
            yield (
                crossing,
                f"The filter allows the match that ends with `{last.name}`, although `{crossing.name}` writes before "
                "the first user.",
            )
        if not verdict and not crossing:
            yield (
                last,
                f"The filter rejects the match that ends with `{last.name}`, although no other node writes before the "
                "first user.",
            )


CHECK = Check((refuses_what_is_crossed,))
