"""Work in place where it is safe: everything that the module does stays the same."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.cases.values import Value, dict_items, difference
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import lints, recompiled
from fxbook.rules.predicates import defaults_kept, input_unchanged, runs, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..cases import behaviour
from ..check import keywords_kept
from .cases import settings

SHARED = "when_it_breaks/06_kwargs#silent-another-layer-works-in-place-too"


def same_as_model(model: nn.Module, *inputs: Tensor) -> dict[str, Any]:
    """Everything that the model does."""
    return behaviour(model, model, *inputs)


# ---- the activations, and the values that they may overwrite ---------------------------------------------------------

_MAKERS = {
    "call_function": {f"operator.{name}" for name in ("add", "sub", "mul", "matmul")} | {"torch.nn.functional.linear"},
    "call_module": {"torch.nn.Linear", "torch.nn.Conv2d", "torch.nn.LayerNorm"},
}


def _with_inplace(space: Any) -> set[str]:
    """The readable names of the functions and classes in a namespace that take ``inplace``."""
    return {
        f"{space.__name__}.{name}"
        for name, value in vars(space).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or (inspect.isclass(value) and issubclass(value, nn.Module)))
        and "inplace" in inspect.signature(value).parameters
    }


_METHODS = {"relu", "sigmoid", "tanh"}
_ACTIVATIONS = {
    "call_function": _with_inplace(torch.nn.functional),
    "call_module": _with_inplace(torch.nn),
    "call_method": _METHODS,
}
_STAY = {f"torch.{name}" for name in _METHODS}
# An answer may replace a method or a function with a function that works in place, such as ``nn.functional.celu_``,
# which is ``torch.celu_``.
_FUNCTIONS = {path.rpartition(".")[2] for path in _ACTIVATIONS["call_function"]}
_IN_PLACE = {f"{space}.{name}_" for space in ("torch", "torch.Tensor") for name in _METHODS | _FUNCTIONS}


def _is_activation(node: NodeRecord) -> bool:
    if node.op == "call_module":
        return node.kind in _ACTIVATIONS["call_module"]
    return node.target.removesuffix("_") in _ACTIVATIONS.get(node.op, ()) or node.target in _IN_PLACE


def _works_in_place(node: NodeRecord | None) -> bool:
    return node is not None and "in place" in node.notes


def _objection(case: CaseView, node: NodeRecord) -> str | None:
    """Why the node must not work in place, as the end of a sentence; ``None`` if it may."""
    read = case.nodes[node.inputs[0]]
    if read.op == "placeholder":
        return f"`{read.name}` is an input, which belongs to the caller"
    if read.op == "get_attr":
        return f"`{read.name}` is fetched from the model"
    called = read.kind if read.op == "call_module" else read.target
    if called not in _MAKERS.get(read.op, ()):
        return f"`{read.name} = {read.call}` calls none of `MAKERS`"
    if len(read.users) > 1:
        other = next(case.nodes[user].name for user in read.users if user != node.index)
        return f"`{other}` uses `{read.name}` too"
    return None


# ---- the rules -------------------------------------------------------------------------------------------------------


@rule
def stays(case: CaseView) -> Found:
    """What worked in place before still does, and calls to ``torch.relu`` and the like are unchanged."""
    for before in case.before:
        node = case.graph.named(before.name) if case.graph else None
        if node and _works_in_place(before) and not _works_in_place(node):
            yield node, "worked in place and no longer does: it should stay as it was"
        if node and before.op == "call_function" and before.target in _STAY and node.target != before.target:
            yield node, f"calls `{node.target}`, but `{before.target}` should stay as it was"


@rule(SHARED)
def layers_apart(case: CaseView) -> Found:
    """Two calls to different layers of the model do not call the same layer in the result."""
    calls: dict[str, tuple[str, str]] = {}
    for node in case.nodes:
        before = case.before.named(node.name)
        # In a graph that a Transformer made, another call may have this name.
        if node.op == "call_module" and before and before.index == node.index:
            other, path = calls.setdefault(node.target, (node.name, before.target))
            if path != before.target:
                both = f"`{other}` and `{node.name}` both call the same layer, `{node.target}`"
                yield node, f"{both}: the model has a layer for each."


@rule
def nothing_unsafe(case: CaseView) -> Found:
    """No node works in place where that is unsafe, unless it did before."""
    for node in case.nodes:
        if not _works_in_place(node) or _works_in_place(case.before.named(node.name)) or not node.inputs:
            continue
        if not _is_activation(node):
            yield node, "works in place, but is not an activation"
        if objection := _objection(case, node):
            same_layer = (other for other in case.nodes if other is not node and _call_one_layer(node, other))
            safe = next((other for other in same_layer if not _objection(case, other)), None)
            if safe:
                yield node, f"calls the layer of `{safe.name}`, which works in place, but {objection}", SHARED
            yield node, f"works in place, but {objection}"


def _call_one_layer(node: NodeRecord, other: NodeRecord) -> bool:
    return other.op == node.op == "call_module" and other.target == node.target


@rule
def same_behaviour(case: CaseView) -> Found:
    """The result behaves as the model does: its return value, its inputs afterwards, its gradients."""
    yield from runs.find(case)
    output = next((node for node in case.nodes if node.op == "output"), None)
    for observed, expected in zip(case.outputs or [], case.expected, strict=True):
        ours, theirs = _items(observed), _items(expected)
        if differs := difference(ours.get("result"), theirs["result"], "what it returns"):
            yield output, f"The result does not compute what the model computes: {differs}."
        if difference(ours.get("inputs"), theirs["inputs"]):
            yield None, "The result overwrites the tensor that it is given."
        gradients, wanted = _items(ours.get("gradients")), _items(theirs["gradients"])
        for name in wanted:
            if differs := difference(gradients.get(name), wanted[name]):
                yield output, f"The gradient of `{name}` differs from that of the model: {differs}."


@rule(SHARED)
def settings_kept(case: CaseView) -> Found:
    """The layer that a node calls has the same settings and mode as in the model, apart from ``inplace``."""
    now = _items(_items(case.outputs[0]).get("settings")) if case.outputs else {}
    for before in case.before:
        node = case.graph.named(before.name) if case.graph else None
        if node and before.op == "call_module" and before.name in now:
            (ours, mode), (wanted, wanted_mode) = now[before.name], settings(case.model.get_submodule(before.target))
            if ours != wanted:
                changed = f"`{ours}`, but the model has `{wanted}`"
                yield node, f"The layer of `{node.name}` has different settings: {changed}."
            if mode != wanted_mode:
                yield node, f"The layer of `{node.name}` is in {mode} mode: the model has it in {wanted_mode} mode."


def _items(value: Value) -> dict[str, Value]:
    """The items of an encoded dict with names as keys; none if it is something else."""
    return {key[1:-1]: item for key, item in dict_items(value).items()} if isinstance(value, dict) else {}


@rule
def nothing_missed(case: CaseView) -> Found:
    """Every activation that may safely work in place does."""
    for node in case.nodes:
        if _is_activation(node) and not _works_in_place(node) and node.inputs and not _objection(case, node):
            read = case.nodes[node.inputs[0]]
            yield node, f"does not work in place, although that is safe for `{read.name} = {read.call}`"


CHECK = Check(
    (
        lints,
        recompiled,
        input_unchanged.at(SHARED),
        shares_weights,
        stays,
        layers_apart,
        nothing_unsafe,
        same_behaviour.or_because(keywords_kept, settings_kept, defaults_kept),
        nothing_missed,
    ),
    expected=same_as_model,
)
