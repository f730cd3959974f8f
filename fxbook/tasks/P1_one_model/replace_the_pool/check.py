"""Replace the pool: one mean replaces a global pool and the flattening after it."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import given_edited, lints, no_leftovers, recompiled
from fxbook.rules.predicates import edited, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import FLATTEN, POOL, input_by_keyword, layer, nothing_dies

DEAD = "03_replacement#what-removing-dead-code-deletes"


def pairs(case: CaseView) -> list[tuple[NodeRecord, NodeRecord]]:
    """The pools in the given graph that must go, each with the flattening after it."""
    return [
        (before, case.before.nodes[before.users[0]])
        for before in case.before
        if before in POOL
        and len(before.users) == 1
        and getattr(layer(case, before), "output_size", None) in (1, (1, 1))
        and case.before.nodes[before.users[0]] in FLATTEN
        and _dims(case, case.before.nodes[before.users[0]]) == (1, -1)
    ]


def _going(case: CaseView) -> set[int]:
    return {node.index for pair in pairs(case) for node in pair}


def _dims(case: CaseView, node: NodeRecord) -> tuple[int, int]:
    """The first and the last dimension that are flattened."""
    if node.op == "call_module":
        return layer(case, node).start_dim, layer(case, node).end_dim
    named = dict(node.kwargs["dict"])
    given = dict(zip(("start_dim", "end_dim"), node.positional[1:], strict=False)) | named
    return given.get("start_dim", 0), given.get("end_dim", -1)


def _shared(case: CaseView, flatten: NodeRecord) -> str:
    """A remark, if the node flattens a pool that has another user."""
    pool = case.before.nodes[flatten.inputs[0]] if flatten.inputs else flatten
    others = [case.before.nodes[user].name for user in pool.users if user != flatten.index]
    return f" (`{others[0]}` also uses `{pool.name}`)" if others and pool in POOL else ""


@rule
def pairs_replaced(case: CaseView) -> Found:
    """One mean replaces each pair."""
    found = case.now(_going(case))
    for pool, flatten in pairs(case):
        for before in (pool, flatten):
            node = found.get(before.index)
            if node is not None and node in (FLATTEN | POOL):
                yield node, f"is still there: one mean must replace `{pool.name}` and `{flatten.name}`"
    count, expected = len(case.nodes), len(case.before) - len(pairs(case))
    if count > expected:
        yield (
            next(case.new(), None),
            f"The graph has {count} nodes, but with one for each pair, it would have {expected}.",
        )


@rule
def others_stay(case: CaseView) -> Found:
    """Every other node is still there, and calls what it called before."""
    replaced = _going(case)
    for before in case.gone(replaced):
        if before.index not in replaced and "dead" in before.notes:
            yield before, f"is gone, but must stay, even though it has no users: `{before.call}`", DEAD
        if before.index not in replaced:
            held = layer(case, before)
            called = before.call if held is None else f"{before.call}`, which calls `{held}"
            yield before, f"is gone, but is not part of a pair to replace: `{called}`{_shared(case, before)}"
    for node, before in case.kept(replaced):
        if before.index not in replaced and (node.op, node.target) != (before.op, before.target):
            yield node, f"no longer calls `{before.call}`, but is not part of a pair to replace"


CHECK = Check(
    (lints, recompiled, edited, given_edited, others_stay, same_result, nothing_dies, pairs_replaced, no_leftovers),
    on_error=input_by_keyword,
)
