"""Use all six opcodes."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.explained import callers_input_stays, has_output, lints, paths_exist, reads_nodes, tensor_free
from fxbook.rules.families import ADD, LAYER_NORM, TANH
from fxbook.rules.predicates import calls, calls_before, no_dead_nodes, opcodes, placeholders, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import nothing_detached

SUM = ADD.called("the sum of `x` and `bias`")
NORM = LAYER_NORM.called("the layer `norm`")


@rule
def fetches_bias(case: CaseView) -> Found:
    """No node fetches anything but ``bias``."""
    for node in case.nodes:
        if node.op == "get_attr" and node.target != "bias":
            yield node, f"fetches `{node.target}`: `bias` should be fetched"


CHECK = Check(
    (
        lints,
        placeholders("x"),
        same_result.or_because(
            paths_exist,
            tensor_free,
            has_output,
            reads_nodes,
            calls(TANH),
            calls_before(SUM, NORM),
            calls_before(NORM, TANH),
            no_dead_nodes,
            fetches_bias,
        ),
        nothing_detached,
        callers_input_stays,
        opcodes("placeholder", "get_attr", "call_function", "call_module", "call_method", "output"),
        no_dead_nodes,
    )
)
