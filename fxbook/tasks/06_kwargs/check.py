"""What several exercises of chapter 06 require of positional and keyword arguments."""

from __future__ import annotations

from fxbook.graph.record import JSON, NodeRecord
from fxbook.rules.families import family
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

SUM = family("sum")


def keywords(node: NodeRecord) -> dict[str, JSON]:
    """The keyword arguments."""
    return dict(node.kwargs["dict"])


def argument(node: NodeRecord, position: int, name: str) -> JSON:
    """An argument, by position or by name; ``None`` where it is left out."""
    by_name = keywords(node)
    if name in by_name:
        return by_name[name]
    return node.positional[position] if position < len(node.positional) else None


@rule("06_kwargs#both-are-frozen-assign")
def keywords_kept(case: CaseView) -> Found:
    """A node that calls the same target as before still has all its keywords; their values may differ.

    A keyword that may have become a positional argument does not count as lost.
    """
    for node in case.nodes:
        before = case.before.named(node.name)
        if before and before.target == node.target:
            added = node.positional[len(before.positional) :]
            missing = {name: value for name, value in keywords(before).items() if name not in keywords(node)}
            kinds = {type(value) for value in added if value not in missing.values()}
            for name, value in missing.items():
                if value not in added and type(value) not in kinds:
                    yield node, f"has lost `{name}`"
