"""Turn every ReLU into GELU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Check
from fxbook.cases.exercise import graph_of
from fxbook.rules.explained import lints, methods_exist, recompiled
from fxbook.rules.families import GELU, RELU
from fxbook.rules.predicates import (
    calls,
    input_unchanged,
    no_dead_nodes,
    none_left,
    others_stay,
    same_result,
    shares_weights,
)
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import target_fits_op


def with_gelu(model: nn.Module, x: Tensor) -> Tensor:
    """What the model returns with GELU in place of each ReLU."""

    class Replacing(fx.Interpreter):
        def run_node(self, node: fx.Node) -> Any:
            called = self.fetch_attr(str(node.target)) if node.op == "call_module" else node.target
            if isinstance(called, nn.ReLU) or called in ("relu", torch.relu, nn.functional.relu):
                return nn.functional.gelu(self.env[node.all_input_nodes[0]])
            return super().run_node(node)

    return Replacing(model, graph=graph_of(model)).run(x)


@rule("when_it_breaks/00_first_graph#typeerror-gelu-got-an-unexpected-keyword-argument-inplace")
def no_keyword_of_relu(case: CaseView) -> Found:
    """No call to gelu has the keyword that tracing recorded for relu."""
    for node in case.nodes:
        if node in GELU and "inplace" in dict(node.kwargs["dict"]):
            yield node, "passes on the keyword `inplace`, which gelu does not take"


@rule("when_it_breaks/00_first_graph#typeerror-gelu-got-an-unexpected-keyword-argument-inplace")
def gelu_gets_a_value(case: CaseView) -> Found:
    """Each call to gelu has an argument, even if relu was given its value by name."""
    for node in case.nodes:
        if node in GELU and not node.inputs:
            yield node, "calls gelu without an argument"


@rule
def exact_gelu(case: CaseView) -> Found:
    """Each call to gelu is exact, not the approximation by tanh."""
    for node in case.nodes:
        if node in GELU and dict(node.kwargs["dict"]).get("approximate", "none") != "none":
            yield node, "computes an approximation, not `nn.functional.gelu(x)`"


CHECK = Check(
    (
        target_fits_op,
        lints,
        recompiled,
        same_result.or_because(
            none_left(RELU),
            calls(GELU),
            methods_exist,
            no_keyword_of_relu,
            gelu_gets_a_value,
            exact_gelu,
            others_stay(RELU, GELU),
        ),
        no_dead_nodes,
        input_unchanged,
        shares_weights,
    ),
    expected=with_gelu,
)
