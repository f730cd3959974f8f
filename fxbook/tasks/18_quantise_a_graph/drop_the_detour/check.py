"""Drop pairs that change nothing: these calls are gone, all others stay, and their users use the integers instead."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.naming import callable_name
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.rules.explained import given_edited, lints, recompiled
from fxbook.rules.predicates import edited, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import DEQUANTIZE, QUANTIZE

_QUANTIZE, _DEQUANTIZE = callable_name(QUANTIZE), callable_name(DEQUANTIZE)
_ARGUMENTS = "scale", "zero point", "lower bound", "upper bound", "dtype"


def replaced(graph: GraphRecord) -> dict[int, int]:
    """Maps each `quantize` that changes nothing to the node that its users must use instead."""
    instead: dict[int, int] = {}
    for node in graph:
        far = graph.nodes[node.inputs[0]] if node.target == _QUANTIZE and node.inputs else None
        if far and far.target == _DEQUANTIZE and far.positional[1:] == node.positional[1:]:
            instead[node.index] = instead.get(far.inputs[0], far.inputs[0])
    return instead


def going(graph: GraphRecord) -> set[int]:
    return unneeded(graph) | set(replaced(graph))


def unneeded(graph: GraphRecord) -> set[int]:
    """Each `dequantize` that is used only by a `quantize` that changes nothing."""
    gone = set(replaced(graph))
    return {node.index for node in graph if node.target == _DEQUANTIZE and node.users and gone >= set(node.users)}


def why_it_stays(graph: GraphRecord, node: NodeRecord) -> str:
    """The first argument in which the calls of the node's pair differ; the node's call, if it is not in a pair."""
    for near in (node, *(graph.nodes[index] for index in node.users)):
        far = graph.nodes[near.inputs[0]] if near.target == _QUANTIZE and near.inputs else None
        if far and far.target == _DEQUANTIZE and node in (near, far):
            for name, before, after in zip(_ARGUMENTS, far.positional[1:], near.positional[1:], strict=False):
                if before != after:
                    return f"`{far.name}` and `{near.name}` differ in the {name}"
    return f"`{node.call}`"


@rule
def pairs_are_gone(case: CaseView) -> Found:
    """Every `quantize` that changes nothing is gone."""
    now = case.now(going(case.before))
    for index in replaced(case.before):
        if index in now:
            far = case.before.nodes[case.before.nodes[index].inputs[0]]
            yield now[index], f"is still there, although it only undoes `{far.name}`"


@rule
def unneeded_are_gone(case: CaseView) -> Found:
    """Every `dequantize` that was used only by a `quantize` that changes nothing is gone."""
    now = case.now(going(case.before))
    for index in sorted(unneeded(case.before)):
        if index in now:
            yield now[index], "is still there, although no other call uses it"


@rule
def others_stay(case: CaseView) -> Found:
    """All other nodes are still there, and no node is new."""
    erased = going(case.before)
    for node in case.gone(erased):
        if node.index not in erased:
            yield node, f"is gone, but should have stayed: {why_it_stays(case.before, node)}"
    for node in case.new():
        yield node, f"is new, but the task does not ask for it: `{node.call}`"


@rule
def users_read_the_integers(case: CaseView) -> Found:
    """Each node still uses the same nodes, except that integers replace a `quantize` that changes nothing."""
    now, instead = case.now(going(case.before)), replaced(case.before)
    was = {node.index: index for index, node in now.items()}
    for index, node in sorted(now.items()):
        inputs = [instead.get(used, used) for used in case.before.nodes[index].inputs]
        for used, expected in zip(node.inputs, inputs, strict=False):
            if was.get(used) != expected:
                yield node, f"uses `{case.nodes[used].name}` instead of `{case.before.nodes[expected].name}`"


CHECK = Check(
    (
        lints,
        edited,
        given_edited,
        pairs_are_gone,
        others_stay,
        users_read_the_integers,
        unneeded_are_gone,
        recompiled,
        same_result,
    )
)
