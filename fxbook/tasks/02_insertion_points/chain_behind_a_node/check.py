"""Run a chain after a node."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.rules import explained
from fxbook.rules.explained import given_edited, lints, output_last, recompiled
from fxbook.rules.families import family
from fxbook.rules.predicates import no_dead_nodes, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from .cases import Anchored, BehindFunction, BehindInput


def with_chain(model: nn.Module, x: Tensor) -> Any:
    """The model with its chain applied to what its anchor gives."""
    assert isinstance(model, Anchored)
    chain = model.chain

    def change(value: Tensor) -> Tensor:
        return functools.reduce(lambda result, function: function(result), chain, value)

    if isinstance(model, BehindInput):
        return model(change(x))
    if isinstance(model, BehindFunction):
        return x + model.down(change(torch.relu(model.up(x))))
    hook = model.get_submodule(model.anchor).register_forward_hook(lambda _module, _inputs, value: change(value))
    try:
        return model(x)
    finally:
        hook.remove()


@rule("02_insertion_points#replace-uses-without-a-cycle")
def chain_read_by_all(case: CaseView) -> Found:
    """No former user of the node still uses it past the chain."""
    assert isinstance(case.model, Anchored)
    name = case.model.anchor
    for node, before in case.kept():
        read_it = any(case.before.nodes[read].name == name for read in before.inputs)
        if read_it and any(case.nodes[read].name == name for read in node.inputs):
            yield node, f"still uses `{name}` itself: every user was to get the end of the chain"


@rule
def chain_in_order(case: CaseView) -> Found:
    """Each function of the chain is called, on what the one before it gives."""
    assert isinstance(case.model, Anchored)
    asked = ", ".join(function.__name__ for function in case.model.chain)
    for node in case.new() if not asked else ():
        yield node, "is new, and the chain asked is empty"
    above = {case.model.anchor}
    for function in case.model.chain:
        spellings = family(function.__name__)
        calling = [node for node in case.new() if node in spellings]
        if not calling:
            yield None, f"No node calls {function.__name__}: the chain asked is {asked}."
        reads = {node.name: [case.nodes[index].name for index in node.inputs] for node in calling}
        following = {name for name, read in reads.items() if above.intersection(read)}
        for node in calling if not following else ():
            what = f"`{reads[node.name][0]}`" if reads[node.name] else "no node"
            yield node, f"uses {what}: the chain asked is {asked}"
        above = following


CHECK = Check(
    (
        lints,
        recompiled,
        output_last,
        same_result.or_because(explained.no_dead_nodes, chain_read_by_all, chain_in_order),
        no_dead_nodes,
        given_edited,
    ),
    expected=with_chain,
)
