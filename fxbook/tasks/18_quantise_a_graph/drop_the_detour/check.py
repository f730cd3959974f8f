"""Drop pairs that change nothing: all of them are gone, nothing else is, and each user reads the right integers."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.naming import callable_name
from fxbook.graph.record import GraphRecord
from fxbook.rules.explained import given_edited, lints, recompiled
from fxbook.rules.predicates import edited, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import DEQUANTIZE, QUANTIZE

_PAIRS = "18_quantise_a_graph#round-by-hand-dequantize-call-quantize"
_QUANTIZE, _DEQUANTIZE = callable_name(QUANTIZE), callable_name(DEQUANTIZE)


def replaced(graph: GraphRecord) -> dict[int, int]:
    """Each `quantize` that changes nothing, with the node that its users read instead."""
    stands_for: dict[int, int] = {}
    for node in graph:
        far = graph.nodes[node.inputs[0]] if node.target == _QUANTIZE and node.inputs else None
        if far and far.target == _DEQUANTIZE and far.positional[1:] == node.positional[1:]:
            stands_for[node.index] = stands_for.get(far.inputs[0], far.inputs[0])
    return stands_for


def spare(graph: GraphRecord) -> set[int]:
    """Each `dequantize` that only such calls use."""
    gone = set(replaced(graph))
    return {node.index for node in graph if node.target == _DEQUANTIZE and node.users and gone >= set(node.users)}


@rule(_PAIRS)
def pairs_are_gone(case: CaseView) -> Found:
    """Every `quantize` that changes nothing is gone."""
    now = case.now()
    for index in replaced(case.before):
        if index in now:
            far = case.before.nodes[case.before.nodes[index].inputs[0]]
            yield now[index], f"is still there, although it only undoes `{far.name}`"


@rule(_PAIRS)
def spare_are_gone(case: CaseView) -> Found:
    """Every `dequantize` that only such calls used is gone."""
    now = case.now()
    for index in sorted(spare(case.before)):
        if index in now:
            yield now[index], "is still there, although no other call uses it"


@rule(_PAIRS)
def others_stay(case: CaseView) -> Found:
    """All other nodes are still there, and no node is new."""
    now, gone = case.now(), spare(case.before) | set(replaced(case.before))
    for node in case.before:
        if node.index not in gone | set(now):
            yield node, f"is gone, but should have stayed: `{node.call}`"
    for node in case.new():
        yield node, f"is new, but the task does not ask for it: `{node.call}`"


@rule(_PAIRS)
def users_read_the_integers(case: CaseView) -> Found:
    """Each node reads what it read, or what stands for it."""
    now, instead = case.now(), replaced(case.before)
    was = {node.index: index for index, node in now.items()}
    for index, node in sorted(now.items()):
        due = [instead.get(read, read) for read in case.before.nodes[index].inputs]
        for read, wanted in zip(node.inputs, due, strict=False):
            if was.get(read) != wanted:
                yield node, f"reads `{case.nodes[read].name}` instead of `{case.before.nodes[wanted].name}`"


CHECK = Check(
    (
        lints,
        edited,
        given_edited,
        pairs_are_gone,
        others_stay,
        spare_are_gone,
        users_read_the_integers,
        recompiled,
        same_result,
    )
)
