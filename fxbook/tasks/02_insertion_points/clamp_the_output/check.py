"""Clamp what a model returns."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.rules import explained
from fxbook.rules.explained import (
    args_are_tuples,
    callers_input_stays,
    given_edited,
    lints,
    output_last,
    recompiled,
    writes_stay,
)
from fxbook.rules.families import family
from fxbook.rules.predicates import no_dead_nodes, same_result
from fxbook.rules.returned import number_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

CLAMP = family("clamp", "clip", modules=(nn.Hardtanh, nn.ReLU6))
_TUPLE = "02_insertion_points#typeerror-node-object-is-not-subscriptable"


def clamped(model: nn.Module, x: Tensor) -> Tensor:
    """What the model returns, clamped to the range from 0 to 6."""
    return torch.clamp(model(x), 0.0, 6.0)


@rule
def result_clamped(case: CaseView) -> Found:
    """The clamped value is the one that the model returned, and the range is as required."""
    returned = case.before.nodes[case.before.nodes[-1].inputs[0]]
    clamps = [node for node in case.new() if node in CLAMP]
    if not clamps:
        yield None, f"No new node calls clamp: the result of `{returned.name}` is not clamped."
    for node in clamps:
        first, *limits = [*node.positional, *(value for _, value in node.kwargs["dict"])] or [None]
        if isinstance(first, dict) and "tuple" in first:
            yield node, "clamps the tuple `output.args`, not the node in it", _TUPLE
        read = case.nodes[node.inputs[0]] if node.inputs else node
        if read.name != returned.name:
            yield node, f"clamps `{read.name}`: the model returned `{returned.name}`"
        if node.op == "call_module":
            yield node, "calls a module that clamps to a range other than 0 to 6"
        if len(limits) == 1:
            yield node, f"has only the limit {number_of(limits[0])}: the range is from 0 to 6"
        if [number_of(limit) for limit in limits] != [0.0, 6.0]:
            given = " to ".join(str(number_of(limit)) for limit in limits)
            yield node, f"clamps to the range from {given}, not the range from 0 to 6"
    for node, _ in case.kept():
        for clamp in clamps:
            if clamp.index in node.inputs and node.op != "output":
                yield node, f"uses `{clamp.name}`: only `output` should use it"


CHECK = Check(
    (
        lints,
        recompiled,
        args_are_tuples,
        output_last,
        same_result.or_because(explained.no_dead_nodes, writes_stay, result_clamped),
        callers_input_stays,
        no_dead_nodes,
        given_edited,
    ),
    expected=clamped,
)
