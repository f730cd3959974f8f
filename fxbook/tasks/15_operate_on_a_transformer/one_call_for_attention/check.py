"""Replace written-out attention by one call."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.explained import given_edited, lints, no_dead_nodes, recompiled
from fxbook.rules.families import MUL, family
from fxbook.rules.predicates import edited, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

SOFTMAX = family("softmax")
STEPS = family("add") | family("mul")
DIVISION = family("div", "truediv", "divide", "true_divide")
MATMUL = family("matmul")
ATTENTION = family("scaled_dot_product_attention")


def steps(graph: GraphRecord, softmax: NodeRecord) -> list[NodeRecord]:
    """The nodes above a softmax, from its argument to the first node that neither adds nor multiplies."""
    found = [graph.nodes[softmax.inputs[0]]]
    while found[-1] in STEPS:
        found.append(graph.nodes[found[-1].inputs[0]])
    return found


def why_it_stays(graph: GraphRecord, softmax: NodeRecord) -> str:
    """Why the attention around a softmax should stay; empty if it should not."""
    if (softmax.op, softmax.target) != ("call_function", "torch.softmax"):
        return "it is not a call to `torch.softmax`"
    if softmax.positional[1:] != [-1]:
        return "its dimension is not the positional argument -1"
    if len(softmax.users) != 1:
        return f"it has {len(softmax.users)} users"
    user = graph.nodes[softmax.users[0]]
    if user not in MATMUL or user.inputs[0] != softmax.index:
        return "it is not the left operand of a product"
    scores = steps(graph, softmax)[-1]
    if scores in DIVISION:
        return "its scores are divided"
    if scores not in MATMUL:
        return "its scores are not a product of matrices"
    scale = next((step.positional for step in steps(graph, softmax) if step in MUL), None)
    if scale is None:
        return "its scores are not scaled"
    if not isinstance(scale[0], dict) or "node" not in scale[0] or (isinstance(scale[1], dict) and "node" in scale[1]):
        return "the scale of its scores is a node or the left operand"
    key = graph.nodes[scores.inputs[-1]]
    if key.target != "transpose" or key.positional[1:] != [-2, -1]:
        return "the right operand of its scores is not written as `transpose(-2, -1)`"
    return ""


def is_touched(case: CaseView, softmax: NodeRecord) -> bool:
    """Whether a softmax of the given graph, or one of its users, is gone or calls something else."""
    now = case.now()
    known = (case.before.nodes[place] for place in (softmax.index, *softmax.users))
    return any(one.index not in now or now[one.index].target != one.target for one in known)


@rule
def each_in_one_call(case: CaseView) -> Found:
    """Attention that can be replaced is a single call, and all other attention is unchanged."""
    assert case.graph is not None
    for node in case.nodes:
        if node in SOFTMAX and not why_it_stays(case.graph, node):
            parts = [*steps(case.graph, node), case.graph.nodes[steps(case.graph, node)[-1].inputs[-1]]]
            part = next((part for part in parts if len(part.users) > 1), None)
            shared = f", even if {len(part.users)} nodes use `{part.name}`" if part else ""
            yield node, f"is still the softmax of attention that one call can replace{shared}"
    reasons = {node.index: why_it_stays(case.before, node) for node in case.before if node in SOFTMAX}
    expected, stays = list(reasons.values()).count(""), sum(map(bool, reasons.values()))
    found, left = (sum(node in kind for node in case.nodes) for kind in (ATTENTION, SOFTMAX))
    if (found, left) == (expected, stays):
        yield from _without_scale(case)
        return
    for index, reason in reasons.items():
        if reason and is_touched(case, case.before.nodes[index]):
            user = "user" if len(case.before.nodes[index].users) == 1 else "users"
            yield case.before.nodes[index], f"and its {user} should stay: {reason}"
    yield None, f"The graph has {found} calls to scaled_dot_product_attention, not {expected}."


def _without_scale(case: CaseView) -> Found:
    """If the result is wrong: calls that use the default scale, which depends on the size of the heads."""
    if same_result(case) is not None:
        for node in case.nodes:
            if node in ATTENTION and dict(node.kwargs["dict"]).get("scale") is None:
                yield node, "has no `scale`: the default is not the scale of the attention that it replaces"


CHECK = Check((lints, recompiled, edited, given_edited, no_dead_nodes, each_in_one_call, same_result))
