"""Clamp what a model returns."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.graph.record import JSON
from fxbook.rules import explained
from fxbook.rules.explained import args_are_tuples, callers_input_stays, given_edited, lints, output_last, recompiled
from fxbook.rules.families import family
from fxbook.rules.predicates import calls, no_dead_nodes, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

CLAMP = family("clamp", "clip", modules=(nn.Hardtanh, nn.ReLU6))
_TUPLE = "02_insertion_points#typeerror-node-object-is-not-subscriptable"


def clamped(model: nn.Module, x: Tensor) -> Tensor:
    """What the model returns, from 0 to 6."""
    return torch.clamp(model(x), 0.0, 6.0)


@rule
def result_clamped(case: CaseView) -> Found:
    """What is clamped is what the model returned, and to the range asked."""
    returned = case.before.nodes[case.before.nodes[-1].inputs[0]]
    for node in case.new():
        if node not in CLAMP:
            continue
        first, *limits = [*node.positional, *(value for _, value in node.kwargs["dict"])] or [None]
        if isinstance(first, dict) and "tuple" in first:
            yield node, "clamps a tuple: the arguments of `output`, and not what is in them", _TUPLE
        read = case.nodes[node.inputs[0]] if node.inputs else node
        if read.name != returned.name:
            yield node, f"clamps `{read.name}`: the model returned `{returned.name}`"
        if node.op != "call_module" and [_number(limit) for limit in limits] != [0.0, 6.0]:
            yield node, "does not clamp to the range from 0 to 6"
        if node.op == "call_module":
            yield node, "calls a module that clamps to another range than from 0 to 6"
    for node, _ in case.kept():
        for clamp in case.new():
            if clamp in CLAMP and clamp.index in node.inputs and node.op != "output":
                yield node, f"uses `{clamp.name}`, which was to be for `output` alone"


def _number(value: JSON) -> float | None:
    if isinstance(value, dict):
        return float(value["float"]) if "float" in value else None
    return float(value) if isinstance(value, int) else None


CHECK = Check(
    (
        lints,
        recompiled,
        args_are_tuples,
        output_last,
        same_result.or_because(explained.no_dead_nodes, calls(CLAMP), result_clamped),
        callers_input_stays,
        no_dead_nodes,
        given_edited,
    ),
    expected=clamped,
)
