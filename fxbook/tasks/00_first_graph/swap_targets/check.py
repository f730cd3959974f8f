"""Swap what is called."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.graph.naming import callable_name
from fxbook.rules.explained import given_edited, lints, recompiled
from fxbook.rules.families import RELU, TANH, Family, family
from fxbook.rules.predicates import calls, no_dead_nodes, none_left, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..cases import Classifier
from ..check import target_fits_op
from .cases import NamedAsMethods, NamedRelu

# A submodule is no target of the table.
CALLED_RELU = family("relu")
RELU_MODULE = Family("the submodule `relu`, which is to stay", modules=RELU.modules)


def with_tanh(model: nn.Module, x: Tensor) -> Tensor:
    """The model with another call for each that the table names: ``tanh`` for relu, where it is that table."""
    if isinstance(model, NamedAsMethods):
        scaled = x * model.sigmoid
        changed = torch.cos(scaled) - torch.sin(scaled) + torch.sin(scaled) + torch.tanh(scaled)
        changed = changed + 3 * torch.prod(scaled, 1, keepdim=True)
        return changed + torch.sinh(scaled) + torch.exp2(scaled) + torch.exp(scaled) + torch.sigmoid(scaled)
    if isinstance(model, NamedRelu):
        kept = torch.relu(model.mix(x))
        functions = torch.tanh(kept - 0.3) + torch.tanh(kept - 0.6)
        return functions + torch.tanh(model.mix(kept) - 0.1) + torch.tanh(kept - 0.2)
    assert isinstance(model, Classifier)
    return (model.head(torch.tanh(model.hidden(x))) / model.temperature).softmax(dim=-1)


@rule
def submodule_stays(case: CaseView) -> Found:
    """The submodule that is called ``relu`` is still called."""
    if isinstance(case.model, NamedRelu):
        yield from calls(RELU_MODULE).find(case)


def _keys(case: CaseView, op: str) -> list[str]:
    """The targets that are to change, of calls of one kind, as a node shows them."""
    _, table = case.arguments
    if op == "call_method":
        return [key for key in table if isinstance(key, str)]
    return [callable_name(key) for key in table if not isinstance(key, str)] if op == "call_function" else []


@rule
def no_key_is_called(case: CaseView) -> Found:
    """No key of the table is called; of one that is a new target, too, nothing is said here."""
    new = [callable_name(target) if callable(target) else target for target in case.arguments[1].values()]
    for node in case.nodes:
        if node.target in _keys(case, node.op) and node.target not in new:
            yield node, f"still calls `{node.target}`, a key of the table"


@rule
def swapped_once(case: CaseView) -> Found:
    """Where the table takes two targets for each other, both are swapped, and no node twice."""
    for node, before in case.kept():
        if before.target in _keys(case, before.op) and node.target == before.target:
            yield node, f"calls `{node.target}`, as before: its target was to be swapped, and once"


@rule
def other_calls_stay(case: CaseView) -> Found:
    """A node whose target is no key of the table calls what it called."""
    for node, before in case.kept():
        if (
            before.op.startswith("call")
            and before.target not in _keys(case, before.op)
            and node.target != before.target
        ):
            yield node, f"called `{before.target}`, a `{before.op}`, which is no key of the table"


@rule
def inputs_stay(case: CaseView) -> Found:
    """An input keeps its name: it calls nothing."""
    asked = [node.target for node in case.before if node.op == "placeholder"]
    for node, name in zip((node for node in case.nodes if node.op == "placeholder"), asked, strict=False):
        if node.target != name:
            yield node, f"The input `{name}` is called `{node.target}` now: an input calls nothing, and was to stay."


CHECK = Check(
    (
        target_fits_op,
        lints,
        recompiled,
        same_result.or_because(
            none_left(CALLED_RELU),
            no_key_is_called,
            swapped_once,
            calls(TANH),
            submodule_stays,
            other_calls_stay,
            no_dead_nodes,
        ),
        inputs_stay,
        no_dead_nodes,
        given_edited,
    ),
    expected=with_tanh,
)
