"""What the exercises of chapter 07 demand: inputs as callers see them, values at the right one, errors that say why."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from fxbook.asking.rule import Violation
from fxbook.asking.values import Value, dict_items, difference, encode
from fxbook.asking.view import CaseView
from fxbook.checks.legacy import configurable
from fxbook.checks.named_inputs_07 import unusable
from fxbook.graph.record import NodeRecord

_HERE = "07_placeholder"
_SIGNATURE = f"{_HERE}#the-signature-makes-the-placeholders"
_REPLACE = f"{_HERE}#replace-placeholder"
_ENVIRONMENT = f"{_HERE}#begin-with-an-environment"
_RETURNS = f"{_HERE}#placeholder-returns-a-value-and-creates-nothing"


# ---- reading a signature ---------------------------------------------------------------------------------------------


def names_required(case: CaseView) -> Violation | None:
    """The answer lists the parameters that a caller must pass."""
    inputs = {node.target: node for node in _traced(case).graph.find_nodes(op="placeholder")}
    wanted = [name for name, node in inputs.items() if not node.args and not name.startswith("*")]
    found = case.value.get("tuple") if isinstance(case.value, dict) else case.value
    if isinstance(found, list) and any(isinstance(item, dict) and "node" in item for item in found):
        return Violation("The answer holds nodes: a list of the names of parameters was asked.")
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        return Violation("The answer is not a list of names.")
    for name in found:
        if name not in wanted:
            return _not_required(name, inputs)
    missing = next((name for name in wanted if name not in found), None)
    if missing:
        return Violation(f"`{missing}` is not in the list: a call that leaves it out fails.", look=_SIGNATURE)
    return None if found == wanted else Violation("The list holds the right names, not each once and in their order.")


def _not_required(name: str, inputs: dict[str, fx.Node]) -> Violation:
    starred = next(
        (target for target in inputs if target.startswith("*") and target.lstrip("*") == name.strip("*_")), ""
    )
    if starred:
        return Violation(f"`{name}` is in the list: `{starred}` takes any number of values, none among them.")
    if name in inputs:
        said = f"`{name}` is in the list: its default is `{inputs[name].args[0]}`, so a caller may leave it out."
        return Violation(said, look=_SIGNATURE)
    target = next((node.target for node in inputs.values() if node.name == name), None)
    if target:
        said = f"`{name}` is in the list: that is the name of a node, and callers pass `{target}`."
        return Violation(said, look="01_node_creation#name-and-target-of-a-placeholder")
    return Violation(f"`{name}` is in the list, and is no input of the graph.")


def _traced(case: CaseView) -> fx.GraphModule:
    return next(item for item in case.arguments if isinstance(item, fx.GraphModule))


# ---- editing the inputs ----------------------------------------------------------------------------------------------


def _inputs(case: CaseView) -> list[NodeRecord]:
    return [node for node in case.nodes if node.op == "placeholder"]


@configurable
def input_added_last(case: CaseView, name: str, default: float) -> Violation | None:
    """The graph has its inputs in their order, then the new one, with its default."""
    inputs = _inputs(case)
    added = next((node for node in inputs if node.target == name), None)
    if added is None:
        return Violation(f"The graph has no input called `{name}`.", look=f"{_HERE}#add-move-and-remove-inputs")
    before = [node.target for node in case.before if node.op == "placeholder"]
    if [node.target for node in inputs if node is not added] != before:
        return Violation(f"The other inputs are no longer {', '.join(f'`{target}`' for target in before)}.")
    if added is not inputs[-1]:
        behind = inputs[inputs.index(added) + 1].target
        return Violation(f"`{name}` stands before `{behind}`: behind all other inputs was asked.", added.index)
    if difference(added.args, encode((default,))):
        return Violation(f"`{name}` does not have the default {default}.", added.index, _SIGNATURE)
    return None


def parameters_kept(case: CaseView) -> Violation | None:
    """No node that stands before a placeholder has the name of its parameter: the code would assign to it first."""
    for node in _inputs(case):
        if taken := next((other for other in case.nodes[: node.index] if other.name == node.target), None):
            message = f"The line of node `{taken.name}` overwrites the parameter `{node.target}` before it is read."
            return Violation(message, node.index, f"{_HERE}#silent-a-node-overwrites-the-parameter")
    return None


def offset_added(case: CaseView) -> Violation | None:
    """What the offset is added to is what the model returned."""
    returned = case.before.nodes[case.before.nodes[-1].inputs[0]]
    for node, origin in zip(case.nodes, case.origins, strict=True):
        reads = [case.nodes[index] for index in node.inputs]
        if origin is None and any(read.target == "offset" and read.op == "placeholder" for read in reads):
            other = next((read for read in reads if read.target != "offset"), None)
            if other and other.name != returned.name:
                message = f"Node `{node.name}` adds the offset to `{other.name}`: the model returned `{returned.name}`."
                return Violation(message, node.index)
    return None


def inputs_gone(case: CaseView) -> Violation | None:
    """The inputs that were to be stored are no longer in the signature, and all others are."""
    _, stored = case.arguments
    left = next((node for node in _inputs(case) if node.target in stored), None)
    if left:
        return Violation(f"The graph still has the input `{left.target}`: a call has to pass it.", left.index)
    wanted = [node.target for node in case.before if node.op == "placeholder" and node.target not in stored]
    found = [node.target for node in _inputs(case)]
    if found != wanted:
        told = ", ".join(f"`{target}`" for target in found) or "none"
        gone = " and ".join(f"`{name}`" for name in stored)
        return Violation(f"The inputs that are left are {told}: all but {gone}, in their order, were asked.")
    return None


def in_state_dict(case: CaseView) -> Violation | None:
    """What a new ``get_attr`` fetches is a buffer that ``state_dict`` contains."""
    for node in _new_fetches(case):
        if node.target not in case.shared:
            message = f"`{node.target}` is not in the `state_dict` of the model: a buffer that is saved was asked."
            return Violation(message, node.index)
        if node.kind == "torch.nn.Parameter" and node.target not in case.weights:
            return Violation(f"`{node.target}` is a parameter, which training changes: a buffer was asked.", node.index)
    return None


def readers_get_the_value(case: CaseView) -> Violation | None:
    """Each node that read a stored input reads what a new ``get_attr`` fetches."""
    _, stored = case.arguments
    fetched = {node.index for node in _new_fetches(case)}
    for node, origin in zip(case.nodes, case.origins, strict=True):
        reads = [case.before.nodes[index] for index in case.before.nodes[origin].inputs] if origin is not None else []
        read = next((read for read in reads if read.target in stored and read.op == "placeholder"), None)
        if read and not fetched.intersection(node.inputs):
            message = f"Node `{node.name}` read `{read.target}`, and does not read the stored value."
            return Violation(message, node.index)
    return None


def _new_fetches(case: CaseView) -> list[NodeRecord]:
    """The ``get_attr`` nodes that were made, or made of an input."""
    return [
        node
        for node, origin in zip(case.nodes, case.origins, strict=True)
        if node.op == "get_attr" and (origin is None or case.before.nodes[origin].op != "get_attr")
    ]


# ---- running an interpreter ------------------------------------------------------------------------------------------


def constants_injected(case: CaseView) -> Violation | None:
    """Each input got its constant, or the next value, in both runs."""
    _, constants, values = case.arguments
    if broken := unusable(case.value):
        return broken
    if "'stopped'" in dict_items(case.value):
        said = "The run ends in a StopIteration: a value was asked for an input that was left out and has a default."
        return Violation(said, look=_RETURNS)
    parameters = inspect.signature(case.model.forward).parameters
    others = dict(zip((name for name in parameters if name not in constants), values, strict=False))
    with torch.no_grad():
        expected = encode(case.model(**constants, **others))
    for label, found in zip(("", "In a second run, "), _runs(case.value), strict=False):
        if label and found is None:
            said = "None comes back: it begins with the environment that the first run has left"
        elif isinstance(expected, dict) and "dict" in expected and isinstance(found, dict) and "dict" in found:
            said = _misplaced(dict_items(found), dict_items(expected), constants)
        else:
            differs = difference(found, expected)
            said = differs and f"the result is not the one asked for: {differs}"
        if said:
            text = label + said if label else said[:1].upper() + said[1:]
            return Violation(f"{text}.", look=_ENVIRONMENT if found is None else _REPLACE)
    return None


def _misplaced(found: dict[str, Value], expected: dict[str, Value], constants: dict[str, Any]) -> str | None:
    for key, wanted in expected.items():
        if key in found and difference(found[key], wanted) is None:
            continue
        name = key.strip("'")
        other = next((k for k, value in expected.items() if k in found and difference(found[key], value) is None), None)
        got = f"the value meant for `{other.strip(chr(39))}`" if other else "another value"
        meant = "the constant" if name in constants else "its own"
        return f"the input `{name}` gets {got}, not {meant}"
    return None


def _runs(value: Value) -> list[Value]:
    items = dict_items(value)
    return [items.get("'first'"), items.get("'second'")]


def nan_found(case: CaseView) -> Violation | None:
    """The answer is the name of the first node whose value holds nan, or ``None``."""
    traced, *values = case.arguments
    holding = _nodes_with_nan(traced, values)
    wanted = next(iter(holding), None)
    found = case.value.get("node") if isinstance(case.value, dict) else case.value
    where = f"{_HERE}#every-node-takes-the-same-way"
    if found == wanted and not isinstance(case.value, dict):
        return None
    if isinstance(case.value, dict) and "node" in case.value:
        return Violation("The answer is a node: its name was asked.")
    if found is None:
        return Violation(f"None was returned: the value of node `{wanted}` holds nan.", look=where)
    if found not in [node.name for node in traced.graph.nodes]:
        return Violation("The answer is neither the name of a node nor None.")
    if found not in holding:
        return Violation(f"`{found}` was returned: the value of this node holds no nan.", look=where)
    return Violation(f"`{found}` was returned: the value of `{wanted}`, before it, holds nan already.", look=where)


class _Watching(fx.Interpreter):
    """Looks at each value when it is made: a later step may overwrite it."""

    def __init__(self, traced: fx.GraphModule) -> None:
        super().__init__(traced)
        self.holding: list[str] = []

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if any(isinstance(leaf, torch.Tensor) and bool(leaf.isnan().any()) for leaf in pytree.tree_leaves(value)):
            self.holding.append(n.name)
        return value


def _nodes_with_nan(traced: fx.GraphModule, values: list[Any]) -> list[str]:
    watching = _Watching(traced)
    watching.run(*values)
    return watching.holding
