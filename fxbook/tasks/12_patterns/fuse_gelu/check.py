"""Fuse the formula of GELU."""

from __future__ import annotations

from fxbook.asking import Check
from fxbook.asking.explained import given_edited, lints, no_dead_nodes, recompiled
from fxbook.asking.families import GELU, TANH
from fxbook.asking.predicates import edited, same_result
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView
from fxbook.graph.record import GraphRecord, NodeRecord

_CUBIC = {"float": "0.044715"}


def is_formula(graph: GraphRecord, tanh: NodeRecord) -> bool:
    """Whether a tanh is that of a formula to be fused: read by its sum alone, over the polynomial of GPT-2."""
    if tanh not in TANH or len(tanh.users) != 1 or not tanh.inputs:
        return False
    last = graph.nodes[tanh.users[0]]
    scaled = graph.nodes[tanh.inputs[0]]
    if "output" in (last.op, scaled.op) or not scaled.inputs:
        return False
    inner = graph.nodes[scaled.inputs[0]]
    return any(
        0.044715 in _numbers(graph.nodes[index]) for index in inner.inputs if graph.nodes[index].op == "call_function"
    )


def _numbers(node: NodeRecord) -> list[float]:
    found = []
    for item in node.positional:
        match item:
            case {"float": str(text)}:
                found.append(float(text))
            case float():
                found.append(item)
    return found


@rule("12_patterns#eight-nodes-for-one-gelu")
def each_formula_fused(case: CaseView) -> Found:
    """Each formula has become one call, and none that was to stay."""
    assert case.graph is not None
    for node in case.nodes:
        if is_formula(case.graph, node):
            yield node, "is still the tanh of a GELU that is written as a formula"
    asked = sum(is_formula(case.before, node) for node in case.before)
    stays = sum(node in TANH for node in case.before) - asked
    count = sum(node in TANH for node in case.nodes)
    if count < stays:
        yield None, f"The graph calls tanh {count} times: {stays} were to stay."
    calls = [node for node in case.nodes if node in GELU]
    if len(calls) != asked:
        yield None, f"The graph calls gelu {len(calls)} times: {asked} were asked."


@rule("12_patterns#eight-nodes-for-one-gelu")
def approximates(case: CaseView) -> Found:
    """Each call approximates as the formula does: within rounding, the exact GELU looks alike."""
    for node in case.nodes:
        if node in GELU and "tanh" not in node.call:
            yield node, 'computes the exact GELU: `approximate="tanh"` was asked'


CHECK = Check((lints, recompiled, edited, given_edited, approximates, same_result, no_dead_nodes, each_formula_fused))
