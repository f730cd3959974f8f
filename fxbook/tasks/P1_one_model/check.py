"""What several milestones of project P1 ask."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from fxbook.asking.families import family
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView
from fxbook.graph.record import NodeRecord

RELU = family("relu", modules=(nn.ReLU,))
POOL = family("adaptive_avg_pool2d", modules=(nn.AdaptiveAvgPool2d,))
FLATTEN = family("flatten", modules=(nn.Flatten,))


def layer(case: CaseView, node: NodeRecord) -> Any:
    """The layer that a node of the given graph calls; ``None`` for a node that calls none."""
    held = dict(case.model.named_modules(remove_duplicate=False))
    return held.get(node.target) if node.op == "call_module" else None


def gone(case: CaseView) -> Iterator[NodeRecord]:
    """The nodes of the given graph that are no longer there."""
    now = case.now()
    return (node for node in case.before if node.index not in now)


@rule("03_replacement#three-steps-in-this-order")
def nothing_dead(case: CaseView) -> Found:
    """No node is left that no node uses and that has no effect; inputs may stay unused."""
    for node in case.nodes:
        if "dead" in node.notes:
            yield node, "is left: no node uses its result"


@rule
def inputs_kept(case: CaseView) -> Found:
    """The inputs are those of the graph given: names, order and defaults."""
    before = [(node.target, node.args) for node in case.before if node.op == "placeholder"]
    after = [(node.target, node.args) for node in case.nodes if node.op == "placeholder"]
    for (name, default), now in zip(before, [*after, *[None] * len(before)], strict=False):
        if now is None or now[0] != name:
            yield None, f"Input `{name}` is not where it was: the inputs were to stay, used or not."
        elif now[1] != default:
            yield None, f"The default of input `{name}` is another one."
    if len(after) > len(before):
        yield None, f"Input `{after[len(before)][0]}` is new."


@rule("03_replacement#a-function-by-a-module-a-module-by-a-function")
def no_leftovers(case: CaseView) -> Found:
    """The result holds no submodule that it does not use."""
    used = [node.target for node in case.nodes if node.op in ("call_module", "get_attr")]
    for path in case.modules:
        if not any(f"{target}.".startswith(f"{path}.") or path.startswith(f"{target}.") for target in used):
            yield None, f"The result still holds the submodule `{path}`, which no node calls."


@rule
def inputs_left_alone(case: CaseView) -> Found:
    """No node works in place on an input, which is the caller's tensor."""
    for node in case.nodes:
        if "in place" in node.notes and node.inputs and case.nodes[node.inputs[0]].op == "placeholder":
            yield node, f"works in place on the input `{case.nodes[node.inputs[0]].name}`"


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run the body on one thread: small models wait for their threads longer than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
