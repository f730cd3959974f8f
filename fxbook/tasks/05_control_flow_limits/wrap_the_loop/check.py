"""Four ways, 2: wrap the loop."""

from __future__ import annotations

from collections.abc import Iterator

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import lints, no_dead_nodes, recompiled
from fxbook.rules.predicates import input_unchanged, runs, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import expected_behaviour, gradients_kept, is_opaque, is_own, nothing_fixed, right_on_every_batch


@rule
def one_own_call(case: CaseView) -> Found:
    """One call to a user-defined function does all of the sharpening, and nothing else."""
    own = list(filter(is_own, case.nodes))
    if not own:
        for node in filter(is_opaque, case.nodes):
            yield node, "keeps a module whole, not a function"
        yield None, "No node calls a function of your own."
    elif len(own) > 1:
        yield own[1], f"{len(own)} nodes call functions of your own: one must do all of the sharpening."
    else:
        outside = _weights_before(case, own[0])
        for weight in sorted(case.weights - outside):
            layer = weight.partition(".")[0]
            yield own[0], f"does the work of `{layer}` too, not only the sharpening"


def _weights_before(case: CaseView, node: NodeRecord) -> set[str]:
    """The names of the model's weights that are used on the way to this node."""
    used = {weight for read in _upstream(case, node) for weight in _weights_of(case, read)}
    # A weight that is passed to the node is used inside it, not before.
    handed = {case.shared.get(case.nodes[index].target) for index in node.inputs if case.nodes[index].op == "get_attr"}
    return used - handed


def _upstream(case: CaseView, node: NodeRecord) -> Iterator[NodeRecord]:
    met: set[int] = set()
    waiting = list(node.inputs)
    while waiting:
        read = case.nodes[waiting.pop()]
        if read.index not in met:
            met.add(read.index)
            waiting += read.inputs
            yield read


def _weights_of(case: CaseView, node: NodeRecord) -> Iterator[str]:
    for name, origin in case.shared.items():
        calls = node.op == "call_module" and name.startswith(f"{node.target}.")
        if origin and (calls or (node.op == "get_attr" and name == node.target)):
            yield origin


CHECK = Check(
    (
        lints,
        recompiled,
        nothing_fixed,
        runs,
        right_on_every_batch,
        shares_weights,
        gradients_kept,
        one_own_call,
        no_dead_nodes,
        input_unchanged,
    ),
    expected=expected_behaviour,
)
