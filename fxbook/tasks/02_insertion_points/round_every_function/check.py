"""Round the result of every function."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.rules import explained
from fxbook.rules.explained import given_edited, lints, output_last, recompiled
from fxbook.rules.families import family
from fxbook.rules.predicates import calls, no_dead_nodes, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..cases import FeedForward
from .cases import ReadAlike, Rounding

ROUND = family("round")


def rounded(model: nn.Module, x: Tensor) -> Tensor | tuple[Tensor, Tensor] | dict[str, Tensor]:
    """The model with the result of each function rounded."""
    if isinstance(model, ReadAlike):
        gated = torch.round(nn.functional.leaky_relu(torch.round(torch.round(x[:2]) * model.gain), 0.3))
        scaled = torch.round(gated * 2.75)
        return {"x": x, "square": gated**2, "rounded": scaled, "beside": scaled * 8}
    if isinstance(model, Rounding):
        scaled = torch.round(model.scale(x) * 5.0)
        narrowed = torch.round(scaled * 0.4)
        product = torch.round(torch.exp(narrowed)) * torch.round(torch.square(narrowed))
        return torch.round(product), torch.round(x.sigmoid() * 3.0)
    assert isinstance(model, FeedForward)
    return torch.round(x + model.down(torch.round(torch.relu(model.up(x)))))


@rule
def to_whole_numbers(case: CaseView) -> Found:
    """The new rounds round to whole numbers."""
    for node in case.new():
        decimals = [*node.positional[1:], *(value for _, value in node.kwargs["dict"])]
        if node in ROUND and any(decimals):
            yield node, f"rounds to {decimals[0]} decimals: `torch.round(value)` was asked"


@rule
def functions_rounded(case: CaseView) -> Found:
    """The new rounds use the result of a function, and its users use the round."""
    for node in case.new():
        if node in ROUND and node.inputs:
            read = case.nodes[node.inputs[0]]
            if read.op != "call_function":
                yield node, f"rounds `{read.name}`, a `{read.op}`: what functions compute was asked"
    for node, before in case.kept():
        if before.op == "call_function" and node not in ROUND:
            for user in node.users:
                if case.nodes[user] not in ROUND:
                    yield case.nodes[user], f"uses `{node.name}`, which is not rounded"


@rule("01_node_creation#four-spellings-of-add")
def rounds_share_no_memory(case: CaseView) -> Found:
    """No new round works in place on a slice of an input, which is the caller's tensor."""
    for node in case.new():
        if node in ROUND and "in place" in node.notes and node.inputs:
            sliced = case.nodes[node.inputs[0]]
            if sliced.target == "operator.getitem" and case.nodes[sliced.inputs[0]].op == "placeholder":
                yield node, f"works in place: `{sliced.name}` shares its memory with an input of the model"


CHECK = Check(
    (
        lints,
        recompiled,
        output_last,
        same_result.or_because(
            explained.no_dead_nodes, calls(ROUND), functions_rounded, to_whole_numbers, rounds_share_no_memory
        ),
        no_dead_nodes,
        given_edited,
    ),
    expected=rounded,
)
