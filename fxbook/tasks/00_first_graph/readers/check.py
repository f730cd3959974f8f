"""Find the users of a value."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import JSON, GraphRecord, NodeRecord
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import names_in, repeated, unreadable


@rule
def readers(case: CaseView) -> Found:
    """The answer contains the name of each user of the node, once, in any order."""
    yield from unreadable(case.value, nodes=True)
    answer = names_in(case.value, nodes=True)
    _, name = case.arguments
    read = case.before.named(name)
    assert read
    users = [case.before.nodes[index] for index in read.users]
    if not answer and read.target != name and any(user.op != "output" for user in users):
        yield None, f"The answer is empty: `{name}` is a node name, and that node's target is `{read.target}`."
    for other in answer:
        if other not in [user.name for user in users]:
            yield None, f"`{other}` is in the answer{_no_user(case.before, read, other)}."
    yield from repeated(answer)
    for user in users:
        if user.name not in answer:
            yield None, f"`{user.name}` uses `{name}`{_how(user, read.index)}, but is not in the answer."


def _no_user(graph: GraphRecord, read: NodeRecord, name: str) -> str:
    node = graph.named(name)
    if node is None:
        return ", but no node has that name"
    if node.index in read.inputs:
        return f", but is an input of `{read.name}`, not a user"
    return f", but does not use `{read.name}` directly"


def _how(user: NodeRecord, read: int) -> str:
    """How a node uses the value, if a search could miss that use."""
    if {"node": read} in user.positional:
        return ""
    if not _holds(user.args, read):
        return ", by name"
    inside = next((kind for kind in ("slice", "dict") if _holds(user.args, read, inside=kind)), "list")
    return f", inside a {inside}"


def _holds(value: JSON, index: int, inside: str = "") -> bool:
    """Whether a value contains a node; with ``inside``, whether it does so inside a part of that kind."""
    if value == {"node": index}:
        return not inside
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return any(_holds(item, index, "" if key == inside else inside) for key, item in items)


CHECK = Check((readers, input_unchanged))
