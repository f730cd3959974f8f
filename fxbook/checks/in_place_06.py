"""What "Work in place where it is safe" asks: all that a module does stays the same, and who overwrites what."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

from fxbook.asking.predicates import runs
from fxbook.asking.rule import Violation
from fxbook.asking.values import Value, dict_items, difference
from fxbook.asking.view import CaseView
from fxbook.checks.legacy import Property, configurable, first_violation
from fxbook.checks.properties_06 import HERE
from fxbook.graph.record import NodeRecord

IN_PLACE = f"{HERE}#working-in-place-overwrites-what-the-node-reads"
SHARED = f"{HERE}#silent-another-layer-works-in-place-too"

# ---- all that a module does: its result, its inputs afterwards, its gradients ----------------------------------------


def behaviour(call: Callable[..., Any], model: nn.Module, *inputs: Tensor) -> dict[str, Any]:
    """What calling does to its inputs and what it returns, without gradients and with them.

    Args:
        call: ``model`` itself, or a module that shares its parameters.
        model: whose parameters the gradients are taken of.
        inputs: left as they are.
    """
    own = [value.clone() for value in inputs]
    with torch.no_grad():
        result = pytree.tree_map_only(torch.Tensor, torch.clone, call(*own))
    with torch.enable_grad():
        leaves = [value.clone().requires_grad_() for value in inputs]
        # What is passed is no leaf, so that working in place on it is told by its value, and not by an error.
        outputs = pytree.tree_leaves(call(*(leaf + 0 for leaf in leaves)))
        weights = dict(model.named_parameters())
        # A different weight for every element: no two gradients may cancel.
        loss = sum((value * torch.linspace(1.0, 2.0, value.numel()).view_as(value)).sum() for value in outputs)
        found = torch.autograd.grad(loss, [*leaves, *weights.values()], allow_unused=True)
    named = zip([*(f"input {place}" for place in range(len(leaves))), *weights], found, strict=True)
    return {"result": result, "inputs": own, "gradients": dict(named)}


def watched(answer: Any, model: nn.Module) -> Any:
    """The module that the answer makes of the model; running it tells all that it does, and its layers' settings."""
    if isinstance(answer, type) and issubclass(answer, fx.Transformer):
        result = answer(fx.symbolic_trace(model)).transform()
    else:
        result = (answer() if isinstance(answer, type) else answer)(model)
    if type(result).__name__ == "PassResult":
        result = result.graph_module
    if isinstance(result, fx.GraphModule):
        forward = result.forward

        # Wrapped, so that what forward was compiled from is still found.
        @functools.wraps(forward)
        def told(*inputs: Tensor) -> dict[str, Any]:
            return behaviour(forward, model, *inputs) | {"settings": _settings(result)}

        result.forward = told
    return result


def _settings(module: fx.GraphModule) -> dict[str, str]:
    """The settings of the layers that are called, but for ``inplace``, by the name of the node."""
    layers = {node.name: module.get_submodule(node.target) for node in module.graph.find_nodes(op="call_module")}
    return {name: re.sub(r"(, )?inplace=\w+", "", layer.extra_repr()) for name, layer in layers.items()}


@configurable
def same_behaviour_or(case: CaseView, *diagnoses: Property) -> Violation | None:
    """The result does all that the model does; where it does not, the first diagnosis that finds something says why."""
    wrong = runs(case) or _other_behaviour(case)
    if wrong is None:
        return None
    return first_violation(case, diagnoses) or dataclasses.replace(wrong, rule="same_behaviour")


def _other_behaviour(case: CaseView) -> Violation | None:
    output = next((node.index for node in case.nodes if node.op == "output"), None)
    for found, expected in zip(case.outputs or [], case.expected, strict=True):
        ours, theirs = _items(found), _items(expected)
        if differs := difference(ours.get("result"), theirs["result"], "what it returns"):
            return Violation(f"The result does not compute what the model does: {differs}.", output)
        if difference(ours.get("inputs"), theirs["inputs"]):
            return Violation("The result overwrites the tensor that it is given.", look=IN_PLACE)
        gradients = _items(ours.get("gradients"))
        wanted = _items(theirs["gradients"])
        if name := next((name for name in wanted if difference(gradients.get(name), wanted[name])), None):
            return Violation(f"The gradient of `{name}` is another one than that of the model.", output)
    return None


def settings_kept(case: CaseView) -> Violation | None:
    """Each call of a layer finds the settings that it found in the model, ``inplace`` apart."""
    now = _items(_items(case.outputs[0]).get("settings")) if case.outputs else {}
    for name, before in _settings(fx.symbolic_trace(case.model)).items():
        node = case.graph.named(name) if case.graph else None
        if node and now.get(name, before) != before:
            message = f"The layer of `{name}` has other settings: `{now[name]}`, where the model has `{before}`."
            return Violation(message, node.index, SHARED)
    return None


def _items(value: Value) -> dict[str, Value]:
    """The items of an encoded dict with names for keys; none where it is something else."""
    return {key[1:-1]: item for key, item in dict_items(value).items()} if isinstance(value, dict) else {}


# ---- who may work in place -------------------------------------------------------------------------------------------

_MAKERS = {
    "call_function": {f"operator.{name}" for name in ("add", "sub", "mul", "matmul")} | {"torch.nn.functional.linear"},
    "call_module": {"torch.nn.Linear", "torch.nn.Conv2d", "torch.nn.LayerNorm"},
}


def _with_inplace(space: Any) -> set[str]:
    """The functions, or the constructors of the classes, that take ``inplace``, by readable name."""
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


def _is_activation(node: NodeRecord) -> bool:
    if node.op == "call_module":
        return node.kind in _ACTIVATIONS["call_module"]
    called = node.target.removesuffix("_")
    # A method may have been replaced by the function of that name that works in place.
    return called in _ACTIVATIONS.get(node.op, ()) or (called in _STAY and called != node.target)


def _works_in_place(node: NodeRecord | None) -> bool:
    return node is not None and "in place" in node.notes


def _objection(case: CaseView, node: NodeRecord) -> str | None:
    """Why the node may not work in place, as the end of a sentence."""
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
        return f"`{other}` reads `{read.name}` too"
    return None


def stays(case: CaseView) -> Violation | None:
    """What works in place already does so still, and a function of ``torch`` is the one that it was."""
    for before in case.before:
        node = case.graph.named(before.name) if case.graph else None
        if node is None:
            continue
        if _works_in_place(before) and not _works_in_place(node):
            message = f"Node `{node.name}` worked in place and no longer does: it was to stay as it is."
            return Violation(message, node.index)
        if before.op == "call_function" and before.target in _STAY and node.target != before.target:
            message = f"Node `{node.name}` calls `{node.target}`: `{before.target}` was to stay as it is."
            return Violation(message, node.index)
    return None


def layers_apart(case: CaseView) -> Violation | None:
    """Calls of different layers of the model do not call one layer."""
    calls: dict[str, tuple[str, str]] = {}
    for node in case.nodes:
        before = case.before.named(node.name)
        if node.op == "call_module" and before:
            other, path = calls.setdefault(node.target, (node.name, before.target))
            if path != before.target:
                message = f"`{other}` and `{node.name}` call one layer, `{node.target}`: the model has one for each."
                return Violation(message, node.index, SHARED)
    return None


def nothing_unsafe(case: CaseView) -> Violation | None:
    """Nothing works in place that may not, and did not before."""
    for node in case.nodes:
        if not _works_in_place(node) or _works_in_place(case.before.named(node.name)) or not node.inputs:
            continue
        if not _is_activation(node):
            return Violation(f"Node `{node.name}` works in place, and is no activation.", node.index, IN_PLACE)
        if said := _objection(case, node):
            safe = next((other for other in _same_layer(case, node) if not _objection(case, other)), None)
            if safe:
                message = f"Node `{node.name}` calls the layer of `{safe.name}`, which works in place, and {said}."
                return Violation(message, node.index, SHARED)
            return Violation(f"Node `{node.name}` works in place, and {said}.", node.index, IN_PLACE)
    return None


def _same_layer(case: CaseView, node: NodeRecord) -> list[NodeRecord]:
    """The other calls of the layer that the node calls."""
    found = (other for other in case.nodes if other.op == node.op == "call_module" and other.target == node.target)
    return [other for other in found if other.index != node.index]


def nothing_missed(case: CaseView) -> Violation | None:
    """Every activation that may work in place does."""
    for node in case.nodes:
        if _is_activation(node) and not _works_in_place(node) and node.inputs and not _objection(case, node):
            read = case.nodes[node.inputs[0]]
            message = f"Node `{node.name}` does not work in place, though it is safe on `{read.name} = {read.call}`."
            return Violation(message, node.index, IN_PLACE)
    return None
