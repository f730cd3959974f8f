"""Take a linear layer apart."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.explained import has_output, lints, recompiled, tensor_free
from fxbook.rules.predicates import all_in_sight, has_node, no_dead_nodes, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import expected_with_gradients, gradients_kept, no_module_called, same_result


@rule
def fetches_each_weight(case: CaseView) -> Found:
    """There is a ``get_attr`` for each parameter of the given layer."""
    fetched = {node.target.rpartition(".")[2] for node in case.nodes if node.op == "get_attr"}
    for name, _ in case.model.named_parameters():
        if name not in fetched:
            yield None, f"No node fetches the layer's `{name}`."


@rule
def no_other_weights(case: CaseView) -> Found:
    """No node fetches anything but the layer, its parameters and plain tensors."""
    for node in case.nodes:
        is_own = node.target in case.modules or case.shared.get(node.target) is not None
        if node.op == "get_attr" and node.kind != "torch.Tensor" and not is_own:
            yield node, f"fetches `{node.target}`, which is not a parameter of the layer"


@rule
def holds_each_weight(case: CaseView) -> Found:
    """The result holds each parameter of the layer, under any name, not just a view of it."""
    for name, _ in case.model.named_parameters():
        if name not in case.shared.values():
            yield None, f"The result does not hold the layer's parameter `{name}` itself."


CHECK = Check(
    (
        lints,
        recompiled,
        no_module_called,
        all_in_sight,
        same_result.or_because(tensor_free, has_output, fetches_each_weight),
        has_node("get_attr"),
        shares_weights,
        no_other_weights,
        gradients_kept,
        holds_each_weight,
        no_dead_nodes,
    ),
    expected=expected_with_gradients,
)
