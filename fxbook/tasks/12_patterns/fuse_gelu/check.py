"""Check that each GELU formula has become one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fxbook.cases import Check
from fxbook.graph.record import JSON, GraphRecord, NodeRecord
from fxbook.rules.explained import given_edited, lints, no_dead_nodes, recompiled
from fxbook.rules.families import GELU, TANH
from fxbook.rules.predicates import edited, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import ROOT

# The formula, from its last function to its inputs. A string that is not first in a tuple is an input of the formula.
_TANH = ("tanh", ("mul", ROOT, ("add", "x", ("mul", 0.044715, ("pow", "x", 3.0)))))
_FORMULA = ("mul", ("mul", 0.5, "x"), ("add", 1.0, _TANH))


def formulas(graph: GraphRecord) -> list[NodeRecord]:
    """The tanh of each formula to fuse: it has the numbers of GPT-2, and no other node uses a value inside."""
    return [tanh for _, tanh, used in _all_formulas(graph) if used is None]


def _all_formulas(graph: GraphRecord) -> Iterator[tuple[NodeRecord, NodeRecord, NodeRecord | None]]:
    """The last node and the tanh of each formula with the numbers of GPT-2, and its first value used outside."""
    for last in graph:
        inside: list[NodeRecord] = []
        if _is(graph, {"node": last.index}, _FORMULA, {}, inside):
            places = {node.index for node in inside}
            used = (node for node in inside if node is not last and not places.issuperset(node.users))
            yield last, next(node for node in inside if node in TANH), next(used, None)


def _is(graph: GraphRecord, item: JSON, part: Any, inputs: dict[str, JSON], inside: list[NodeRecord]) -> bool:
    """Whether an argument matches this part of the formula; adds its nodes to ``inside``."""
    match part, item:
        case str(), {"node": _}:
            return inputs.setdefault(part, item) == item
        case float(), {"float": str(text)}:
            return float(text) == part
        case float(), float():
            return item == part
        case (str(name), *parts), {"node": int(index)}:
            node = graph.nodes[index]
            inside.append(node)
            same = node.op == "call_function" and node.target.rpartition(".")[2] == name
            if not same or len(node.positional) != len(parts):
                return False
            return all(_is(graph, *pair, inputs, inside) for pair in zip(node.positional, parts, strict=True))
    return False


@rule("12_patterns#eight-nodes-for-one-gelu")
def each_formula_fused(case: CaseView) -> Found:
    """Each formula has become one call, except those with a value inside that another node uses."""
    assert case.graph is not None
    for node in formulas(case.graph):
        yield node, "is still the tanh of a GELU that is written as a formula"
    expected = len(formulas(case.before))
    calls = _new_calls(case)
    if len(calls) != expected:
        yield None, f"The graph calls gelu {_times(len(calls))}, not {_times(expected)}."


def _new_calls(case: CaseView) -> list[NodeRecord]:
    old = {node.index for node, before in case.kept() if before in GELU}
    return [node for node in case.nodes if node in GELU and node.index not in old]


@rule("12_patterns#eight-nodes-for-one-gelu")
def others_stay(case: CaseView) -> Found:
    """Each formula with a value inside that another node uses stays, as do each other tanh and each call to gelu."""
    now, fused = case.now(), formulas(case.before)
    for node, before in case.kept():
        if before in GELU and (node.op, node.target, node.kwargs) != (before.op, before.target, before.kwargs):
            yield node, f"must stay `{before.call}`: it was a call to gelu before, not a formula"
    if len(_new_calls(case)) > len(fused):
        for last, _, used in _all_formulas(case.before):
            if used is not None and (last.index not in now or now[last.index] in GELU):
                yield None, f"The formula that ends with `{last.name}` must stay: another node uses its `{used.name}`."
    stay = [node for node in case.before if node in TANH and node not in fused]
    if sum(node in TANH for node in case.nodes) < len(stay):
        for node in stay:
            if node.index not in now or now[node.index] not in TANH:
                yield None, f"Node `{node.name}` must stay: it is not part of a GELU that is written as in `new_gelu`."


def _times(count: int) -> str:
    return f"{count} time{'' if count == 1 else 's'}"


@rule("12_patterns#eight-nodes-for-one-gelu")
def approximates(case: CaseView) -> Found:
    """Each call has the approximation of the formula, although the results of the exact GELU hardly differ."""
    for node in _new_calls(case):
        if node.op == "call_module":
            yield node, "calls a module instead of `nn.functional.gelu`"
        if node.target.startswith("torch.ops."):
            yield node, "calls the ATen operator instead of `nn.functional.gelu`"
        if "tanh" not in node.call:
            yield node, 'computes the exact GELU, not the one with `approximate="tanh"`'


CHECK = Check(
    (lints, recompiled, edited, given_edited, approximates, others_stay, same_result, no_dead_nodes, each_formula_fused)
)
