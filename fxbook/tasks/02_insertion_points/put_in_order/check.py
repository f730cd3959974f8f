"""Put a graph's nodes in order.

No rule runs the graph: in any order that ``lint`` accepts, the same calls with the same arguments return the same
results.
"""

from __future__ import annotations

import itertools

from fxbook.cases import Check
from fxbook.rules.explained import given_edited, output_last, recompiled
from fxbook.rules.predicates import lints
from fxbook.rules.rule import Found, rule
from fxbook.rules.trial import Trial
from fxbook.rules.view import CaseView


@rule
def only_moved(case: CaseView) -> Found:
    """The nodes are the given ones, with the same calls and arguments."""
    for node, origin in zip(case.nodes, case.origins, strict=True):
        if origin is None:
            yield node, "is new: the given nodes should be moved"
    for before in case.before:
        if before.index not in case.origins:
            yield before, "of the given graph is gone"
    now = case.now()
    for node, before in case.kept():
        read = [now[index].index for index in before.inputs if index in now]
        if node.call != before.call or list(node.inputs) != read:
            yield node, "has different arguments: only its place should change"


@rule
def inputs_keep_order(case: CaseView) -> Found:
    """The inputs have the same order as before, so the signature is the same."""
    inputs = [(node, before.index) for node, before in case.kept() if before.op == "placeholder"]
    for (above, place), (node, earlier) in itertools.pairwise(inputs):
        if earlier < place:
            yield node, f"Input `{node.name}` is after `{above.name}`: the inputs should keep their order."


def on_error(_trial: Trial, kind: str) -> str | None:
    """Why an answer raises a ``KeyError``: it copies the graph before the nodes are in order."""
    if kind != "KeyError":
        return None
    copying = "A copy is made in the order of the nodes"
    return f"{copying}, and here some nodes come before nodes that they use: put the graph itself in order."


CHECK = Check((lints, output_last, only_moved, inputs_keep_order, recompiled, given_edited), on_error=on_error)
