"""One more in the list."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.rules.explained import given_edited, lints, no_dead_nodes, recompiled
from fxbook.rules.families import family
from fxbook.rules.predicates import others_stay, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import argument, keywords
from .cases import JoiningMore

CAT = family("cat")


def with_the_first_input(model: nn.Module, first: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
    """What the model returns with its first input as the last tensor of each concatenation."""
    if isinstance(model, JoiningMore):
        [x] = others
        joined = torch.cat([x, model.cat(x), first], dim=1)
        return (
            torch.cat([joined, x, first], dim=1),
            torch.cat([x, first, first]),
            torch.cat([x, x, first], dim=1),
            x,
            torch.cat([x, x, x]),
        )
    half = first * 0.5
    return torch.cat([half, half, first]), torch.cat([half, first, first], dim=1), torch.stack([half, half])


@rule
def dims_kept(case: CaseView) -> Found:
    """Every concatenation still has its ``dim``."""
    for node, before in case.kept():
        if node in CAT and argument(before, 1, "dim") is not None and argument(node, 1, "dim") is None:
            yield node, "has lost its `dim`"


@rule
def input_in_every_cat(case: CaseView) -> Found:
    """Every concatenation has the model's first input as its last tensor, and no other call has gained an input."""
    placeholder = next((node for node in case.nodes if node.op == "placeholder"), None)
    first, name = (placeholder.index, f", `{placeholder.name}`,") if placeholder else (None, "")
    inputs_before = {node.index: len(before.inputs) for node, before in case.kept()}
    for node in case.nodes:
        if node in CAT and node.positional and "tensors" in keywords(node):
            yield node, "has two lists: one by position, and one by keyword, as `tensors`"
        before = inputs_before.get(node.index)
        is_one_more = before is None or len(node.inputs) == before + 1
        if node in CAT and not (node.inputs and node.inputs[-1] == first and is_one_more):
            yield node, f"should have the first input{name} as one more tensor at the end of its list"
        if node not in CAT and before is not None and len(node.inputs) > before:
            yield node, "is not a `torch.cat`, but uses more nodes than before"


CHECK = Check(
    (
        lints,
        recompiled,
        same_result.or_because(dims_kept, input_in_every_cat),
        no_dead_nodes,
        others_stay(),
        input_in_every_cat,
        given_edited,
    ),
    expected=with_the_first_input,
)
