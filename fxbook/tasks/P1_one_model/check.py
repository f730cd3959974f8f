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


@rule("03_replacement#a-function-by-a-module-a-module-by-a-function")
def no_leftovers(case: CaseView) -> Found:
    """Every submodule of the result is used, at least under another name; a container that is now empty may stay."""
    used = [node.target for node in case.nodes if node.op in ("call_module", "get_attr")]
    held = dict(case.model.named_modules(remove_duplicate=False))
    called = {id(held[target]) for target in used if target in held}
    for path in case.modules:
        if any(held[path].children() if path in held else ()):
            continue
        is_used = any(f"{target}.".startswith(f"{path}.") or path.startswith(f"{target}.") for target in used)
        if not is_used and id(held.get(path)) not in called:
            yield None, f"The result still holds the submodule `{path}`, which no node calls."


def input_by_keyword(trial: Trial, kind: str) -> str | None:
    """Explain an ``IndexError``: a call without positional arguments has no ``args[0]``."""
    bare = next((node.name for node in trial.before if node.inputs and not node.positional), None)
    if kind == "IndexError" and bare:
        return f"In this graph `{bare}` has its input by keyword, so its `args` are empty."
    return None
