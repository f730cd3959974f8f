"""Rules that several milestones of project P1 share."""

from __future__ import annotations

from typing import Any

from torch import nn

from fxbook.graph.record import NodeRecord
from fxbook.rules.families import family
from fxbook.rules.rule import Found, rule
from fxbook.rules.trial import Trial
from fxbook.rules.view import CaseView

RELU = family("relu", modules=(nn.ReLU,))
POOL = family("adaptive_avg_pool2d", modules=(nn.AdaptiveAvgPool2d,))
FLATTEN = family("flatten", modules=(nn.Flatten,))


def layer(case: CaseView, node: NodeRecord) -> Any:
    """The layer that a node of the given graph calls; ``None`` if the node calls no layer."""
    held = dict(case.model.named_modules(remove_duplicate=False))
    return held.get(node.target) if node.op == "call_module" else None


@rule("03_replacement#three-steps-in-this-order")
def nothing_dead(case: CaseView) -> Found:
    """Every remaining node has users or an effect; inputs may stay unused."""
    for node in case.nodes:
        if "dead" in node.notes:
            yield node, "is left, but no node uses its result"


@rule("03_replacement#three-steps-in-this-order")
def nothing_dies(case: CaseView) -> Found:
    """No node has lost its last user; a node that had no users before may stay."""
    before = {node.index for node, was in case.kept() if "dead" in was.notes}
    for node in case.nodes:
        if "dead" in node.notes and node.index not in before:
            yield node, "is left, but no node uses its result"


@rule
def inputs_kept(case: CaseView) -> Found:
    """The inputs are those of the given graph: names, order and defaults."""
    before = [(node.target, node.args) for node in case.before if node.op == "placeholder"]
    after = [(node.target, node.args) for node in case.nodes if node.op == "placeholder"]
    for (name, default), now in zip(before, [*after, *[None] * len(before)], strict=False):
        if now is None or now[0] != name:
            yield None, f"Input `{name}` is no longer at its position: all inputs must stay, even unused ones."
        elif now[1] != default:
            yield None, f"The default of input `{name}` has changed."
    if len(after) > len(before):
        yield None, f"Input `{after[len(before)][0]}` is new."


def input_by_keyword(trial: Trial, kind: str) -> str | None:
    """Explain an ``IndexError``: a call without positional arguments has no ``args[0]``."""
    bare = next((node.name for node in trial.before if node.inputs and not node.positional), None)
    if kind == "IndexError" and bare:
        return f"In this graph `{bare}` gets its input by keyword, so its `args` are empty."
    return None
