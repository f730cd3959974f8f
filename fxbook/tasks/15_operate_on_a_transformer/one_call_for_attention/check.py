"""Replace attention that is written out by one call."""

from __future__ import annotations

from fxbook.asking import Check
from fxbook.asking.explained import given_edited, lints, no_dead_nodes, recompiled
from fxbook.asking.families import family
from fxbook.asking.predicates import edited, same_result
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView
from fxbook.graph.record import GraphRecord, NodeRecord

SOFTMAX = family("softmax")
MATMUL = family("matmul")
ATTENTION = family("scaled_dot_product_attention")


def to_be_fused(graph: GraphRecord, softmax: NodeRecord) -> bool:
    """Whether a softmax is that of attention to be replaced: over the last dimension, read by a product alone."""
    if softmax not in SOFTMAX or list(softmax.positional[1:]) != [-1] or len(softmax.users) != 1:
        return False
    user = graph.nodes[softmax.users[0]]
    return user in MATMUL and user.inputs[0] == softmax.index


@rule
def each_in_one_call(case: CaseView) -> Found:
    """Each attention that can be replaced is one call, and any other is as it was."""
    assert case.graph is not None
    for node in case.nodes:
        if to_be_fused(case.graph, node):
            yield node, "is still the softmax of attention that one call can replace"
    asked = sum(to_be_fused(case.before, node) for node in case.before)
    found = sum(node in ATTENTION for node in case.nodes)
    if found != asked:
        yield None, f"The graph calls scaled_dot_product_attention {found} times: {asked} were asked."
    stays = sum(node in SOFTMAX for node in case.before) - asked
    left = sum(node in SOFTMAX for node in case.nodes)
    if left != stays:
        yield None, f"The graph calls softmax {left} times: {stays} were to stay."


CHECK = Check((lints, recompiled, edited, given_edited, same_result, no_dead_nodes, each_in_one_call))
