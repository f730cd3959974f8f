"""Rules that exercises of chapter 03 share: what every replacement of nodes must satisfy."""

from __future__ import annotations

from torch import nn

from fxbook.graph.record import NodeRecord
from fxbook.rules import explained
from fxbook.rules.explained import reads_itself
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

_NO_ARGUMENT = "when_it_breaks/03_replacement#indexerror-replacement-index-1-out-of-range-for-positional-args-tuple"
_NONE = "03_replacement#typeerror-gelu-argument-input-position-1-must-be-tensor-not-nonetype"


@rule
def lints(case: CaseView) -> Found:
    """Like :func:`explained.lints`, with links to this chapter for cycles and erased nodes."""
    for node, sentence, place in explained.lints.find(case):
        if node and reads_itself(case, node):
            cycle = "" if node.faults[0] == "uses itself" else ", and is one of its transitive inputs: a cycle."
            yield node, f"{sentence[:-1]}{cycle}" if cycle else sentence, "03_replacement#every-cycle-has-one-cause"
        elif node and node.faults and node.faults[0].endswith("not in this graph"):
            yield node, sentence, "03_replacement#erasing-refuses-then-forgets"
        else:
            yield node, sentence, place


@rule
def arguments_kept(case: CaseView) -> Found:
    """Calls have as many arguments as before, and no ``None`` in place of a node."""
    for node, before in case.kept():
        if (node.op, node.target) == (before.op, before.target) and _passed(node) < _passed(before):
            yield node, f"has {_passed(node)} of its {_passed(before)} arguments left: `{node.call}`", _NO_ARGUMENT
    # The ``None`` may be the default of an input, or an argument in the model.
    had_none = {(node.op, node.target) for node in case.before if None in node.positional}
    for node in case.nodes:
        is_old = node.op == "placeholder" or (node.op, node.target) in had_none
        if None in node.positional and isinstance(node.args, dict) and not is_old:
            yield node, f"is passed None where it needs a node: `{node.call}`", _NONE


def _passed(node: NodeRecord) -> int:
    return len(node.positional) + len(node.kwargs.get("dict", []))


no_dead_nodes = explained.no_dead_nodes.at("03_replacement#three-steps-in-this-order")


@rule("03_replacement#three-steps-in-this-order")
def nothing_dead(case: CaseView) -> Found:
    """Except for inputs, every remaining node has users or an effect."""
    for node in case.nodes:
        if not node.users and node.op not in ("placeholder", "output") and effect(case, node) is None:
            yield node, "is left: no node uses its result"


def effect(case: CaseView, node: NodeRecord) -> str | None:
    """What a node does besides returning a result, in words; ``None`` if it does nothing else."""
    words = {"in place": "writes in place", "side effect": "has a side effect"}
    noted = next((words[note] for note in node.notes if note in words), None)
    return noted or ("collects statistics" if _collects(case.model, node) else None)


def _collects(model: nn.Module, node: NodeRecord) -> bool:
    if node.op != "call_module":
        return False
    module = dict(model.named_modules(remove_duplicate=False)).get(node.target)
    return getattr(module, "running_mean", None) is not None
