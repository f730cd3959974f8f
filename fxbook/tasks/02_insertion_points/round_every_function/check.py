"""Round the result of every function."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Check
from fxbook.cases.exercise import graph_of
from fxbook.graph.record import JSON, NodeRecord
from fxbook.rules import predicates
from fxbook.rules.explained import given_edited, lints, output_last, recompiled, writes_stay
from fxbook.rules.families import family
from fxbook.rules.predicates import calls, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

# The built-in `round` is not one of the spellings.
ROUND = dataclasses.replace(family("round"), label="torch.round")


def rounded(model: nn.Module, x: Tensor) -> Any:
    """What the model returns if the result of each function is rounded."""

    class Rounding(fx.Interpreter):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return torch.round(super().call_function(target, args, kwargs))

    return Rounding(model, graph=graph_of(model)).run(x)


@rule("02_insertion_points#a-new-node-needs-a-user")
def no_dead_nodes(case: CaseView) -> Found:
    """Like :func:`predicates.no_dead_nodes`, but says which node should use a dead ``round``, or which user is gone."""
    now, was = case.now(), {node.index: before for node, before in case.kept()}
    for node, sentence, *_ in predicates.no_dead_nodes.find(case):
        read = case.nodes[node.inputs[0]] if node and node in ROUND and node.inputs else None
        for user in read.users if read else ():
            if case.nodes[user] not in ROUND:
                yield node, f"is dead: `{case.nodes[user].name}` still uses `{read.name}`"
        for user in was[node.index].users if node and node.index in was else ():
            if user not in now:
                yield node, f"is dead: `{case.before.nodes[user].name}`, which used its result, is gone"
        yield node, sentence


@rule
def to_whole_numbers(case: CaseView) -> Found:
    """Every new ``round`` rounds to whole numbers."""
    for node in case.new():
        if node in ROUND and (decimals := _decimals(node)):
            yield node, f"rounds to {decimals} decimals, not to whole numbers"


@rule
def functions_rounded(case: CaseView) -> Found:
    """Every new ``round`` uses a function's result, and the result's other users use the ``round`` instead."""
    for node in case.new():
        if node in ROUND and node.inputs:
            read = case.nodes[node.inputs[0]]
            if read.op != "call_function":
                yield node, f"rounds `{read.name}`, a `{read.op}`: only results of functions should be rounded"
    for node, before in case.kept():
        is_whole = node in ROUND and not _decimals(node)
        for user in node.users if before.op == "call_function" and not is_whole else ():
            if case.nodes[user] not in ROUND:
                yield case.nodes[user], f"uses `{node.name}`, which is not rounded"


def _decimals(node: NodeRecord) -> JSON:
    return next(iter([*node.positional[1:], *(value for _, value in node.kwargs["dict"])]), 0)


@rule("01_node_creation#four-spellings-of-add")
def rounds_share_no_memory(case: CaseView) -> Found:
    """No new ``round`` works in place on a slice of an input, which is the caller's tensor."""
    for node in case.new():
        if node in ROUND and "in place" in node.notes and node.written is not None:
            sliced = case.nodes[node.written]
            if sliced.target == "operator.getitem" and case.nodes[sliced.inputs[0]].op == "placeholder":
                yield node, f"works in place: `{sliced.name}` shares its memory with an input of the model"


CHECK = Check(
    (
        lints,
        recompiled,
        output_last,
        same_result.or_because(
            no_dead_nodes, calls(ROUND), functions_rounded, to_whole_numbers, rounds_share_no_memory, writes_stay
        ),
        no_dead_nodes,
        given_edited,
    ),
    expected=rounded,
)
