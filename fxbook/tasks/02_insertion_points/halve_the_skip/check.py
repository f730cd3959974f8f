"""Halve the skip and nothing else."""

from __future__ import annotations

import operator
from typing import Any

from torch import Tensor, fx, nn

from fxbook.cases import Check
from fxbook.cases.exercise import graph_of
from fxbook.rules import explained
from fxbook.rules.explained import callers_input_stays, given_edited, lints, output_last, recompiled
from fxbook.rules.families import MUL, family
from fxbook.rules.predicates import no_dead_nodes, same_result
from fxbook.rules.returned import number_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

DIV = family("div", "truediv", "divide", "true_divide")


def halved(model: nn.Module, *inputs: Tensor) -> Any:
    """What the model returns if its additions use half of each input."""

    class Halving(fx.Interpreter):
        def run_node(self, node: fx.Node) -> Any:
            if node.target is not operator.add:
                return super().run_node(node)
            args, _ = self.fetch_args_kwargs_from_env(node)
            inputs = [isinstance(side, fx.Node) and side.op == "placeholder" for side in node.args]
            return operator.add(
                *(value / 2 if is_input else value for value, is_input in zip(args, inputs, strict=True))
            )

    return Halving(model, graph=graph_of(model)).run(*inputs)


@rule
def only_additions_read_half(case: CaseView) -> Found:
    """No addition uses a whole input of the model; every other argument is as before."""
    now = case.now()
    for node, before in case.kept():
        is_addition = (before.op, before.target) == ("call_function", "operator.add")
        # A node that was built again is not in `now`.
        for index in filter(now.__contains__, dict.fromkeys(before.inputs)):
            value = case.before.nodes[index]
            is_input = value.op == "placeholder"
            is_read = now[index].index in node.inputs
            if is_addition and is_input and is_read:
                yield node, f"still uses the whole input `{value.name}`: additions should use half of it"
            elif not (is_addition and is_input) and not is_read:
                only = "additions should use half of an input" if is_input else "inputs of the model should be halved"
                yield node, f"no longer uses `{value.name}`: only {only}"


@rule
def half_is_half(case: CaseView) -> Found:
    """A new node that uses an input computes half of it: a product with 0.5, or a division by 2."""
    for node in case.new():
        numbers = [number_of(value) for value in [*node.positional, *(value for _, value in node.kwargs["dict"])]]
        halves = (node in MUL and 0.5 in numbers) or (node in DIV and 2.0 in numbers)
        read = next((case.nodes[index] for index in node.inputs if case.nodes[index].op == "placeholder"), None)
        if read and not halves:
            yield node, f"computes `{node.call}`, not half of `{read.name}`"


def _no_cycle(case: CaseView) -> bool:
    return not any(node.index in node.inputs for node in case.nodes)


CHECK = Check(
    (
        lints.or_because(only_additions_read_half.where(_no_cycle)),
        recompiled,
        output_last,
        same_result.or_because(
            explained.no_dead_nodes, only_additions_read_half, callers_input_stays, half_is_half, explained.writes_stay
        ),
        callers_input_stays,
        only_additions_read_half,
        no_dead_nodes,
        given_edited,
    ),
    expected=halved,
)
