"""Work in place: an activation overwrites its input where that is safe, and nowhere else."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import args_are_tuples, given_edited, lints, recompiled
from fxbook.rules.families import Family
from fxbook.rules.predicates import edited, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import RELU, input_by_keyword, inputs_kept, nothing_dies

UNSAFE = "06_kwargs#working-in-place-overwrites-what-the-node-reads"
DEAD = "03_replacement#what-removing-dead-code-deletes"
SHARED_LAYER = "when_it_breaks/06_kwargs#silent-another-layer-works-in-place-too"
_MAKERS = Family(
    "one of `MAKERS`",
    functions=frozenset({"operator.add", "torch.add"}),
    modules=frozenset({f"torch.nn.{name}" for name in ("Conv2d", "Linear", "BatchNorm2d")}),
)


def _is_activation(node: NodeRecord) -> bool:
    return node in RELU and (node.op == "call_module" or node.target == "torch.nn.functional.relu")


def _reason(case: CaseView, node: NodeRecord) -> str | None:
    """Why an activation of the given graph must not work in place; ``None`` if it may."""
    value = case.before.nodes[node.inputs[0]]
    if value.op == "placeholder":
        return f"`{value.name}` is an input, which belongs to the caller"
    if len(value.users) > 1:
        other = next(case.before.nodes[user] for user in value.users if user != node.index)
        return f"`{other.name}` uses `{value.name}` too"
    return None if value in _MAKERS else f"`{value.call}` calls none of `MAKERS`"


@rule
def nothing_unsafe(case: CaseView) -> Found:
    """No activation works in place where that is not safe."""
    for node, before in _pairs(case):
        is_new = "in place" in node.notes and "in place" not in before.notes
        if is_new and _is_activation(before) and (why := _reason(case, before)):
            place = SHARED_LAYER if node.op == "call_module" else UNSAFE
            yield node, f"Node `{node.name}` works in place, but {why}.", place


@rule
def nothing_missed(case: CaseView) -> Found:
    """Every activation that is safe works in place."""
    for node, before in _pairs(case):
        if _is_activation(before) and "in place" not in node.notes and _reason(case, before) is None:
            value = case.before.nodes[before.inputs[0]]
            yield node, f"does not work in place, although that is safe for `{value.name} = {value.call}`"


@rule
def others_stay(case: CaseView) -> Found:
    """The graph has as many nodes as before, and all nodes but the activations call what they called before."""
    if len(case.nodes) < len(case.before):
        for before in case.gone():
            if not _is_activation(before):
                yield before, f"is gone, but must stay: `{before.call}`", DEAD
    if len(case.nodes) != len(case.before):
        extra = next(case.new(), None)
        yield extra, f"The graph has {len(case.nodes)} nodes, but it had {len(case.before)} before."
    for node, before in _pairs(case):
        is_other = (node.op, node.target) != (before.op, before.target)
        if not _is_activation(before) and is_other:
            yield node, f"no longer calls `{before.call}`, but is not an activation"
        if not _is_activation(before) and "in place" in node.notes and "in place" not in before.notes:
            yield node, "works in place, but is not an activation"
        if "in place" in before.notes and "in place" not in node.notes:
            yield node, "worked in place before, but no longer does"
        if "in place" in before.notes and is_other:
            yield node, f"no longer calls `{before.call}`, which already worked in place"


def _pairs(case: CaseView) -> list[tuple[NodeRecord, NodeRecord]]:
    """Each node with the given node that it is, or replaces: a new node replaces one that read the same value.

    A new node may be anywhere after that value.
    """
    origins: dict[int, int] = {}
    for node in case.nodes:
        left = [before for before in case.before if before.index not in origins.values()]
        origin = case.origins[node.index]
        if origin is None or all(before.index != origin for before in left):
            value = origins.get(node.inputs[0]) if node.inputs else None
            read = (before.index for before in left if _is_activation(before) and value in before.inputs)
            origin = next((index for index in read if index not in case.origins), None)
        if origin is not None:
            origins[node.index] = origin
    new = [node.index for node in case.nodes if node.index not in origins]
    gone = [before.index for before in case.before if before.index not in origins.values()]
    origins |= dict(zip(new, gone, strict=False))
    return [(node, case.before.nodes[origins[node.index]]) for node in case.nodes if node.index in origins]


CHECK = Check(
    (
        lints,
        recompiled,
        edited,
        given_edited,
        inputs_kept,
        args_are_tuples,
        nothing_dies,
        others_stay,
        nothing_unsafe,
        nothing_missed,
        same_result,
    ),
    on_error=input_by_keyword,
)
