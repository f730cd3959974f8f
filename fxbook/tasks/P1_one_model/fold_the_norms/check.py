"""Fold the norms: every norm that can be is part of its convolution, and the numbers are those of before.

The cases are in float64, where two results may differ by 1e-8 of their size. Rounding moves them by less than a
thousandth of that (tests/checking/test_rounding.py computes it), a forgotten ``eps`` by more than a hundred times.
"""

from __future__ import annotations

from fxbook.asking import Check
from fxbook.asking.explained import given_edited, lints, recompiled
from fxbook.asking.families import CONV2D, Family
from fxbook.asking.predicates import edited, same_output
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView
from fxbook.graph.record import NodeRecord

from ..check import gone, kept, layer, no_leftovers, nothing_dead

NORM = Family("a batch norm", modules=frozenset({"torch.nn.BatchNorm2d"}))
SHARED = "P1_one_model#where-a-norm-cannot-be-folded"


def reason_to_stay(case: CaseView, norm: NodeRecord) -> str | None:
    """Why a norm of the given graph cannot be folded; ``None`` where it can."""
    if len(norm.inputs) != 1 or case.before.nodes[norm.inputs[0]] not in CONV2D:
        return "it reads no convolution"
    conv = case.before.nodes[norm.inputs[0]]
    if len(conv.users) > 1:
        return f"`{conv.name}` has another user"
    callers = [node for node in case.before if node.op == "call_module" and layer(case, node) is layer(case, conv)]
    if len(callers) > 1:
        return f"`{callers[0].name}` and `{callers[1].name}` call one convolution"
    if layer(case, norm).running_mean is None:
        return "it has no statistics"
    if layer(case, norm).training:
        return "it is in training mode"
    return None


def _going(case: CaseView) -> set[int]:
    """The norms of the given graph that can be folded."""
    return {node.index for node in case.before if node in NORM and reason_to_stay(case, node) is None}


@rule("P1_one_model#a-norm-is-part-of-its-convolution")
def foldable_are_folded(case: CaseView) -> Found:
    """No node calls a norm that can be folded."""
    for node, before in kept(case, _going(case)):
        if before in NORM and node in NORM and reason_to_stay(case, before) is None:
            yield node, f"can be folded into `{case.before.nodes[before.inputs[0]].name}`, and is still called"


@rule(SHARED)
def others_stay(case: CaseView) -> Found:
    """A norm that cannot be folded is called as before, as is every other node."""
    for before in gone(case, _going(case)):
        if before in NORM and (why := reason_to_stay(case, before)):
            yield before, f"is gone, which cannot be folded: {why}"
        if before not in NORM and before.op != "placeholder":
            yield before, f"is gone, and is no batch norm: `{before.call}`"


CHECK = Check(
    (
        lints,
        recompiled,
        edited,
        given_edited,
        others_stay,
        foldable_are_folded,
        same_output,
        nothing_dead,
        no_leftovers,
    )
)
