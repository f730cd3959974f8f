"""Fuse a product and a sum."""

from __future__ import annotations

import re
from collections import Counter

from fxbook.cases import Check
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.explained import given_edited, recompiled
from fxbook.rules.families import Family, family
from fxbook.rules.predicates import edited, others_stay, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import arguments_kept, lints, no_dead_nodes

SUM = Family("operator.add", frozenset({"operator.add"}))
PRODUCT = Family("operator.mul", frozenset({"operator.mul"}))
ADDCMUL = family("addcmul")


@rule
def factors_kept(case: CaseView) -> Found:
    """The two factors of each addcmul are factors of one product in the model."""
    products = [list(node.inputs) for node in case.before if node in PRODUCT and len(node.inputs) == 2]
    orders = [order for product in products for order in (product, product[::-1])]
    for node in case.nodes:
        if node not in ADDCMUL or len(node.inputs) != 3:
            continue
        factors = [case.origins[index] for index in node.inputs[1:]]
        # A node without an origin is another addcmul, which may stand for any node.
        if not any(all(own in (None, one) for own, one in zip(factors, order, strict=True)) for order in orders):
            names = " and ".join(f"`{case.nodes[index].name}`" for index in node.inputs[1:])
            yield node, f"multiplies {names}, which the model does not"


@rule
def products_fused(case: CaseView) -> Found:
    """An addition is fused with a product if, and only if, :func:`why_not` gives no reason against it."""
    assert case.graph is not None
    for node in case.nodes:
        if fuses(case.graph, node):
            yield node, "still adds a product that has no other user"
    # In a rebuilt graph, only the number of additions of a kind shows that one is gone.
    now, gone = dict(zip(case.origins, case.nodes, strict=True)), _to_stay(case.before) - _to_stay(case.graph)
    for before in case.before:
        reason = why_not(case.before, before) if before in SUM else None
        after = now.get(before.index)
        if reason and gone[_kind(reason)] and (after is None or after not in SUM):
            yield None, f"Addition `{before.name}` was replaced, although it {reason}."
    yield from others_stay(SUM, PRODUCT, ADDCMUL).find(case)


def _to_stay(graph: GraphRecord) -> Counter[str]:
    """How many additions should not be fused, for each kind of reason."""
    reasons = (why_not(graph, node) for node in graph if node in SUM)
    return Counter(_kind(reason) for reason in reasons if reason)


def _kind(reason: str) -> str:
    """A reason without the names and numbers in it."""
    return re.sub(r"`.*?`|\d+", "", reason)


def fuses(graph: GraphRecord, node: NodeRecord) -> bool:
    """Whether a node is an addition that should be fused with a product."""
    return node in SUM and why_not(graph, node) is None


def why_not(graph: GraphRecord, addition: NodeRecord) -> str | None:
    """Why an addition should not be fused with a product, as the end of a sentence; ``None`` if it should."""
    operands = [graph.nodes[index] for index in dict.fromkeys(addition.inputs)]
    products = [node for node in operands if node in PRODUCT]
    if not products:
        return "adds no product of `operator.mul`"
    if len(addition.inputs) != 2:
        return f"adds a number to `{products[0].name}`"
    if len(operands) == 1:
        return f"adds `{operands[0].name}` to itself"
    if any(len(node.inputs) == 2 and node.users == (addition.index,) for node in products):
        return None
    shared = next((node for node in products if node.users != (addition.index,)), None)
    if shared:
        return f"adds `{shared.name}`, which has {len(shared.users)} users"
    return f"adds `{products[0].name}`, a product with a number"


CHECK = Check(
    (
        arguments_kept,
        lints,
        recompiled,
        edited,
        given_edited,
        same_result.or_because(factors_kept, products_fused),
        no_dead_nodes,
        products_fused,
    )
)
