"""Give every constant a home."""

from __future__ import annotations

from typing import Any

from torch import fx, nn
from torch.utils import _pytree as pytree

from fxbook.cases import Check
from fxbook.rules.explained import (
    args_are_tuples,
    given_edited,
    lints,
    no_shared_buffer,
    own_weights_stay,
    recompiled,
    tensor_free,
)
from fxbook.rules.predicates import edited, no_dead_nodes, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

_PLAIN = "when_it_breaks/01_node_creation#attempted-to-insert-a-get_attr-node-with-no-underlying-reference"


@rule
def fetches_buffers(case: CaseView) -> Found:
    """Each new ``get_attr`` fetches a buffer, which is in the ``state_dict`` and is not trained."""
    # A parameter among the arguments stays an nn.Parameter when it is registered as a buffer.
    given_parameters = any(isinstance(value, nn.Parameter) for value in _values(case.arguments[0].graph))
    for node in case.nodes:
        if node.op == "get_attr" and node.target not in case.shared:
            yield node, f"fetches `{node.target}`, which is neither a parameter nor a buffer", _PLAIN
        own = node.target in case.weights or given_parameters
        if node.op == "get_attr" and not own and node.kind == "torch.nn.Parameter":
            yield node, f"fetches `{node.target}`, a parameter, not a buffer"


def _values(graph: fx.Graph) -> list[Any]:
    """All values among the arguments of the nodes."""
    return pytree.tree_leaves([(node.args, node.kwargs) for node in graph.nodes])


CHECK = Check(
    (
        tensor_free,
        args_are_tuples,
        lints,
        recompiled,
        same_result.or_because(no_shared_buffer, own_weights_stay),
        fetches_buffers,
        no_dead_nodes,
        edited,
        given_edited,
    )
)
