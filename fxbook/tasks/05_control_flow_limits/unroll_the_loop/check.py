"""Four ways, 4: unroll the loop."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.explained import lints, no_dead_nodes, recompiled
from fxbook.rules.predicates import input_unchanged, runs, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import (
    batch_left_alone,
    expected_behaviour,
    gradients_kept,
    is_own,
    nothing_fixed,
    open_to_passes,
    right_on_every_batch,
)


@rule("05_control_flow_limits#one-model-four-graphs")
def traced_symbolically(case: CaseView) -> Found:
    """The graph does not come from a front end that records only ATen operators."""
    calls = [node for node in case.nodes if node.op == "call_function"]
    if calls and all(node.target.startswith("torch.ops.") and not is_own(node) for node in calls):
        yield calls[0], "calls an ATen operator, as graphs from other front ends do: use `fx.symbolic_trace`"


@rule("when_it_breaks/05_control_flow_limits#methods-that-write-in-place-are-recorded")
def writes_before_a_use(case: CaseView) -> Found:
    """A reason for wrong numbers: a node uses a value after another node has overwritten it."""
    for node in case.nodes:
        if "in place" in node.notes and node.inputs:
            written = case.nodes[node.inputs[0]]
            later = next((user for user in written.users if user > node.index), None)
            if later is not None:
                yield node, f"works in place, so `{case.nodes[later].name}` gets the changed values of `{written.name}`"


CHECK = Check(
    (
        lints,
        recompiled,
        nothing_fixed,
        traced_symbolically,
        runs.or_because(input_unchanged),
        open_to_passes,
        right_on_every_batch.or_because(writes_before_a_use),
        batch_left_alone,
        shares_weights,
        gradients_kept,
        no_dead_nodes,
        input_unchanged,
    ),
    expected=expected_behaviour,
)
