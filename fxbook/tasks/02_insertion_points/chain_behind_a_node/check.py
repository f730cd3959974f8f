"""Run a chain after a node."""

from __future__ import annotations

import functools
from typing import Any

from torch import Tensor, fx

from fxbook.cases import Check
from fxbook.cases.exercise import graph_of
from fxbook.rules import explained
from fxbook.rules.explained import given_edited, lints, output_last, recompiled, writes_stay
from fxbook.rules.families import family
from fxbook.rules.predicates import no_dead_nodes, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def with_chain(model: Any, x: Tensor) -> Any:
    """What the model returns if its chain is applied to the value of its anchor."""

    class Chaining(fx.Interpreter):
        def run_node(self, node: fx.Node) -> Any:
            chain = model.chain if node.name == model.anchor else ()
            return functools.reduce(lambda value, function: function(value), chain, super().run_node(node))

    return Chaining(model, graph=graph_of(model)).run(x)


@rule("02_insertion_points#replace-uses-without-a-cycle")
def chain_read_by_all(case: CaseView) -> Found:
    """No former user of the node still uses it directly."""
    name = case.model.anchor
    for node, before in case.kept():
        used_it = any(case.before.nodes[read].name == name for read in before.inputs)
        if used_it and any(case.nodes[read].name == name for read in node.inputs):
            yield node, f"still uses `{name}`: every user should get the result of the chain"


@rule
def chain_in_order(case: CaseView) -> Found:
    """Each function of the chain is called with the result of the one before it."""
    model: Any = case.model
    chain = ", ".join(function.__name__ for function in model.chain)
    for node in case.new() if not chain else ():
        yield node, "is new: the chain is empty, so no node should be added"
    above = {model.anchor}
    for function in model.chain:
        spellings = family(function.__name__)
        calling = [node for node in case.new() if node in spellings]
        if not calling:
            yield None, f"No node calls {function.__name__}: the chain is {chain}."
        reads = {node.name: [case.nodes[index].name for index in node.inputs] for node in calling}
        following = {name for name, read in reads.items() if above.intersection(read)}
        for node in calling if not following else ():
            what = f"`{reads[node.name][0]}`" if reads[node.name] else "no node"
            yield node, f"uses {what}: the chain is {chain}"
        above = following


@rule
def only_behind_the_node(case: CaseView) -> Found:
    """New nodes use no node of the given graph except the named one."""
    name = case.model.anchor
    kept = {node.index: before.name for node, before in case.kept()}
    for node in case.new():
        for read in node.inputs:
            if kept.get(read, name) != name:
                yield node, f"uses `{case.nodes[read].name}`: only users of `{name}` should get the result of the chain"


CHECK = Check(
    (
        lints,
        recompiled,
        output_last,
        same_result.or_because(
            writes_stay,
            chain_in_order.where(lambda case: bool([*case.new()])),
            explained.no_dead_nodes,
            chain_read_by_all,
            only_behind_the_node,
        ),
        no_dead_nodes,
        given_edited,
    ),
    expected=with_chain,
)
