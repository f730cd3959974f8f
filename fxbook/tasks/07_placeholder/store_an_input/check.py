"""Turn an input into a buffer."""

from __future__ import annotations

import inspect
from typing import Any

from torch import nn

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import (
    given_edited,
    lints,
    no_shared_buffer,
    output_last,
    own_weights_stay,
    recompiled,
    tensor_free,
)
from fxbook.rules.predicates import same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def with_stored(model: nn.Module, *inputs: Any) -> Any:
    """The model's result for these inputs and the stored ones."""
    stored = model.stored()
    names = [name for name in inspect.signature(model.forward).parameters if name not in stored]
    return model(**dict(zip(names, inputs, strict=False)), **stored)


@rule
def inputs_gone(case: CaseView) -> Found:
    """The graph has all inputs except those that had to be stored."""
    stored = case.model.stored()
    inputs = [node for node in case.nodes if node.op == "placeholder"]
    for node in inputs:
        if node.target in stored:
            yield node, f"The graph still has the input `{node.target}`: it should have become a buffer."
    present = [node.target for node in inputs]
    if present != [node.target for node in case.before if node.op == "placeholder" and node.target not in stored]:
        listed = ", ".join(f"`{target}`" for target in present) or "none"
        gone = " and ".join(f"`{name}`" for name in stored)
        yield None, f"The inputs are now {listed}: they should be the original inputs except {gone}, in the same order."


@rule
def in_state_dict(case: CaseView) -> Found:
    """Each new ``get_attr`` fetches a buffer that is in ``state_dict``."""
    for node in _new_fetches(case):
        if node.target not in case.shared:
            yield node, f"`{node.target}` is not in the `state_dict` of the module: it should be a persistent buffer."
        if node.kind == "torch.nn.Parameter" and node.target not in case.weights:
            yield node, f"`{node.target}` is a parameter, which an optimizer would change: it should be a buffer."


@rule
def each_is_saved(case: CaseView) -> Found:
    """``state_dict`` has a new tensor for each stored input, whichever node reads it."""
    stored, added = case.model.stored(), set(case.shared) - case.weights
    if len(added) < len(stored):
        tensors = f"{len(added) or 'no'} new tensor{'' if len(added) == 1 else 's'}"
        names = " and one for ".join(f"`{name}`" for name in stored)
        yield None, f"The `state_dict` of the module has {tensors}: it should have one for {names}."


@rule
def users_get_the_value(case: CaseView) -> Found:
    """Each node that used a stored input now uses a new ``get_attr``."""
    stored = case.model.stored()
    fetches = {node.index for node in _new_fetches(case)}
    for node, before in case.kept():
        for read in (case.before.nodes[index] for index in before.inputs):
            if read.op == "placeholder" and read.target in stored and not fetches.intersection(node.inputs):
                yield node, f"used the input `{read.target}`, but does not use the buffer instead"


def _new_fetches(case: CaseView) -> list[NodeRecord]:
    """The new ``get_attr`` nodes, including those that used to be inputs."""
    old = {node.index for node, before in case.kept() if before.op == "get_attr"}
    return [node for node in case.nodes if node.op == "get_attr" and node.index not in old]


CHECK = Check(
    (
        lints,
        tensor_free,
        inputs_gone,
        recompiled,
        output_last,
        in_state_dict,
        same_result.or_because(own_weights_stay, no_shared_buffer, users_get_the_value),
        each_is_saved,
        given_edited,
    ),
    expected=with_stored,
)
