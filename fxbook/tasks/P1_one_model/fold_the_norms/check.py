"""Fold the norms: every norm that can be folded is folded, and the values stay the same.

All cases but one are in float64, where two results may differ by 1e-8 of their size. Rounding changes them by less than
a thousandth of this (see tests/checking/test_rounding.py), and a forgotten ``eps`` by more than a hundred times this.
"""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.cases.exercise import inputs_of
from fxbook.cases.running import values_inside
from fxbook.cases.values import Value, decode_tensor, difference
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import given_edited, lints, no_leftovers, recompiled
from fxbook.rules.families import CONV2D, Family
from fxbook.rules.predicates import edited, same_output
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import input_by_keyword, layer, nothing_dies

NORM = Family("a batch norm", modules=frozenset({"torch.nn.BatchNorm2d"}))
SHARED = "P1_one_model#where-a-norm-cannot-be-folded"
DEAD = "03_replacement#what-removing-dead-code-deletes"


def reason_to_stay(case: CaseView, norm: NodeRecord) -> str | None:
    """Why a norm of the given graph cannot be folded; ``None`` if it can."""
    conv = case.before.nodes[norm.inputs[0]]
    if conv not in CONV2D:
        return f"its input is `{conv.name}`, which does not call an `nn.Conv2d`"
    if other := next((user for user in conv.users if user != norm.index), None):
        return f"`{case.before.nodes[other].name}` uses `{conv.name}` too"
    callers = [node for node in case.before if node.op == "call_module" and layer(case, node) is layer(case, conv)]
    if len(callers) > 1:
        return f"`{callers[0].name}` and `{callers[1].name}` call the same convolution"
    if layer(case, norm).running_mean is None:
        return "it has no statistics"
    if layer(case, norm).training:
        return "it is in training mode"
    return None


def _going(case: CaseView) -> set[int]:
    """The norms of the given graph that can be folded."""
    return {node.index for node in case.before if node in NORM and reason_to_stay(case, node) is None}


@rule
def foldable_are_folded(case: CaseView) -> Found:
    """No node calls a norm that can be folded."""
    for node, before in case.kept(_going(case)):
        if before in NORM and node in NORM and reason_to_stay(case, before) is None:
            yield node, f"can be folded into `{case.before.nodes[before.inputs[0]].name}`, but is still called"


@rule(SHARED)
def others_stay(case: CaseView) -> Found:
    """The norms that cannot be folded, and all nodes that are not norms, are still there."""
    for before in case.gone(_going(case)):
        if before in NORM and (why := reason_to_stay(case, before)):
            yield before, f"is gone, but cannot be folded: {why}"
        if before not in NORM and "dead" in before.notes:
            yield before, f"is gone, but must stay, even though it has no users: `{before.call}`", DEAD
        if before not in NORM and before.op != "placeholder":
            yield before, f"is gone, but is not an `nn.BatchNorm2d`: `{before.call}`"


@rule
def pairs_compute_the_same(case: CaseView) -> Found:
    """A convolution with a folded norm computes what the norm computed, and other nodes what they computed before."""
    going = _going(case)
    norms = {case.before.nodes[index].inputs[0]: case.before.nodes[index] for index in going}
    was = {node.index: index for index, node in case.now(going).items()}
    for draw, inputs in enumerate(inputs_of(case.case, case.seed)):
        [traced] = case.arguments
        given, found = values_inside(traced, inputs, case.seed, draw), case.inside(draw) or []
        for node, value in zip(case.nodes, found, strict=False):
            before = case.before.nodes[was[node.index]] if node.index in was else None
            if before is None or value is None or node.op in ("placeholder", "output"):
                continue
            norm = norms.get(before.index)
            expected = given[(norm or before).index]
            if (differs := difference(value, expected)) is None:
                continue
            numbers = f": {differs.partition(': ')[2] or differs}"
            if norm is not None:
                how = _of_the_bias(value, expected)
                yield node, f"does not compute what `{before.name}` and `{norm.name}` computed together{how}{numbers}"
            else:
                yield node, f"no longer computes the same numbers{_sharing(case, before)}{numbers}", SHARED


def _of_the_bias(found: Value, expected: Value) -> str:
    """A remark, if a value is off by the same number everywhere in a channel, as with a wrong bias."""
    if not isinstance(found, dict) or found.get("shape") != expected["shape"]:
        return ""
    off = decode_tensor(found).double() - decode_tensor(expected).double()
    uneven = (off - off.mean((0, 2, 3), keepdim=True)).abs().max()
    is_even = bool(uneven <= 1e-5 * off.abs().max())
    return ", and is off by the same number everywhere in a channel" if is_even else ""


def _sharing(case: CaseView, node: NodeRecord) -> str:
    """A remark, if another convolution shares the weight or the bias of this node's convolution."""
    own = layer(case, node)
    for other in case.before:
        held = layer(case, other)
        shared = [
            name
            for name in ("weight", "bias")
            if getattr(own, name, None) is not None and getattr(held, name, None) is getattr(own, name)
        ]
        if shared and held is not own:
            return f", and shares its {' and '.join(shared)} with `{other.name}`"
    return ""


CHECK = Check(
    (
        lints,
        recompiled,
        edited,
        given_edited,
        others_stay,
        foldable_are_folded,
        same_output.or_because(pairs_compute_the_same),
        nothing_dies,
        no_leftovers,
    ),
    on_error=input_by_keyword,
)
