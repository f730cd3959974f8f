"""What the exercises of chapter 02 demand of a graph; each fault is told with its node and where to read."""

from __future__ import annotations

import dataclasses
import itertools

import torch
from torch import nn

from fxbook.asking.families import CONV2D, GELU, LINEAR, RELU, TANH, family
from fxbook.asking.predicates import calls_after
from fxbook.asking.rule import Violation
from fxbook.asking.view import CaseView
from fxbook.checks.models_02 import Layered
from fxbook.graph.record import JSON, NodeRecord

_HERE = "02_insertion_points"
CLAMP = family("clamp", "clip", modules=(nn.Hardtanh, nn.ReLU6))
ROUND = family("round")
# Its module is private, so the drawings and families know it by its bare name.
_ANY_LINEAR = dataclasses.replace(LINEAR, modules=LINEAR.modules | {"NonDynamicallyQuantizableLinear"})
_FAMILY = {nn.Linear: _ANY_LINEAR, nn.Conv2d: CONV2D, torch.relu: RELU, torch.tanh: TANH, nn.functional.gelu: GELU}


def pairs(case: CaseView) -> list[tuple[NodeRecord, NodeRecord]]:
    """Each node of the graph given that is still there, with what it was before."""
    return [
        (node, case.before.nodes[origin])
        for node, origin in zip(case.nodes, case.origins, strict=True)
        if origin is not None and 0 <= origin < len(case.before)
    ]


def result_clamped(case: CaseView) -> Violation | None:
    """What is clamped is what the model returned, and to the range asked."""
    returned = case.before.nodes[case.before.nodes[-1].inputs[0]]
    for node, origin in zip(case.nodes, case.origins, strict=True):
        if origin is not None or node not in CLAMP:
            continue
        first, *limits = [*node.args.get("tuple", ()), *(value for _, value in node.kwargs["dict"])] or [None]
        if isinstance(first, dict) and "tuple" in first:
            message = f"Node `{node.name}` clamps a tuple: the arguments of `output`, and not what is in them."
            return Violation(message, node.index, f"{_HERE}#typeerror-node-object-is-not-subscriptable")
        read = case.nodes[node.inputs[0]] if node.inputs else node
        if read.name != returned.name:
            message = f"Node `{node.name}` clamps `{read.name}`: the model returned `{returned.name}`."
            return Violation(message, node.index)
        if node.op != "call_module" and [_number(limit) for limit in limits] != [0.0, 6.0]:
            return Violation(f"Node `{node.name}` does not clamp to the range from 0 to 6.", node.index)
    return None


def _number(value: JSON) -> float | None:
    if isinstance(value, dict):
        return float(value["float"]) if "float" in value else None
    return float(value) if isinstance(value, int) else None


def callers_input_stays(case: CaseView) -> Violation | None:
    """No new node works in place on an input of the model, which is the caller's tensor."""
    for node, origin in zip(case.nodes, case.origins, strict=True):
        if origin is None and "in place" in node.notes and node.inputs:
            written = case.nodes[node.inputs[0]]
            if written.op == "placeholder":
                message = f"Node `{node.name}` works in place: it changes the tensor passed as `{written.name}`."
                return Violation(message, node.index, "01_node_creation#four-spellings-of-add")
    return None


def chain_in_order(case: CaseView) -> Violation | None:
    """Each function of the chain is called, on what the one before it gives."""
    _, name, functions = case.arguments
    asked = ", ".join(function.__name__ for function in functions)
    before = {name}
    for function in functions:
        calling = [
            node
            for node, origin in zip(case.nodes, case.origins, strict=True)
            if origin is None and node in family(function.__name__)
        ]
        if not calling:
            return Violation(f"No node calls {function.__name__}: the chain asked is {asked}.")
        for node in calling:
            reads = [case.nodes[index].name for index in node.inputs]
            if not before.intersection(reads):
                what = f"reads `{reads[0]}`" if reads else "reads nothing"
                return Violation(f"Node `{node.name}` {what}: the chain asked is {asked}.", node.index)
        before = {node.name for node in calling}
    return None


def chain_read_by_all(case: CaseView) -> Violation | None:
    """No former reader of the node still reads it past the chain."""
    _, name, _ = case.arguments
    for node, before in pairs(case):
        still = next((case.nodes[read] for read in node.inputs if case.nodes[read].name == name), None)
        if still and any(case.before.nodes[read].name == name for read in before.inputs):
            message = f"Node `{node.name}` still reads `{name}` itself: every reader was to get the end of the chain."
            return Violation(message, node.index, f"{_HERE}#hand-over-the-readers")
    return None


def _is_addition(node: NodeRecord) -> bool:
    return node.op == "call_function" and node.target == "operator.add"


def only_additions_read_half(case: CaseView) -> Violation | None:
    """Additions read no input of the model as it is; what else was read is still read."""
    now = {before.index: node.index for node, before in pairs(case)}
    for node, before in pairs(case):
        for read in dict.fromkeys(before.inputs):
            value = case.before.nodes[read]
            halved = _is_addition(before) and value.op == "placeholder"
            if halved and now.get(read) in node.inputs:
                message = f"Node `{node.name}` still reads the input `{value.name}` whole: additions were to read half."
                return Violation(message, node.index)
            if not halved and now.get(read) not in node.inputs:
                asked = "additions" if value.op == "placeholder" else "inputs of the model"
                what = "read half of an input" if value.op == "placeholder" else "be halved"
                message = f"Node `{node.name}` no longer reads `{value.name}`: only {asked} were to {what}."
                return Violation(message, node.index)
    return None


def functions_rounded(case: CaseView) -> Violation | None:
    """What the new rounds read is computed by a function, and its readers read the round."""
    for node, origin in zip(case.nodes, case.origins, strict=True):
        if node in ROUND and origin is None and node.inputs:
            read = case.nodes[node.inputs[0]]
            if read.op != "call_function":
                message = f"Node `{node.name}` rounds `{read.name}`, a `{read.op}`: what functions compute was asked."
                return Violation(message, node.index)
    for node, before in pairs(case):
        if before.op == "call_function" and node not in ROUND:
            readers = [case.nodes[user] for user in node.users]
            if past := next((reader for reader in readers if reader not in ROUND), None):
                message = f"Node `{past.name}` reads `{node.name}`, which is not rounded."
                return Violation(message, past.index)
    return None


def output_last(case: CaseView) -> Violation | None:
    """No node stands behind ``output``, where it would never run."""
    output = next((node for node in case.nodes if node.op == "output"), None)
    if output is None:
        return Violation("The graph has no `output` node.")
    behind = next((node for node in case.nodes if node.index > output.index), None)
    if behind is None:
        return None
    message = f"Node `{behind.name}` stands behind `output`: it never runs."
    return Violation(message, behind.index, f"{_HERE}#a-node-made-without-an-anchor")


def only_moved(case: CaseView) -> Violation | None:
    """The nodes are those that were given, with the calls they had."""
    made = next((node for node, origin in zip(case.nodes, case.origins, strict=True) if origin is None), None)
    if made:
        return Violation(f"Node `{made.name}` is new: the nodes that are there were to be moved.", made.index)
    missing = next((node for node in case.before if node.index not in case.origins), None)
    if missing:
        return Violation(f"Node `{missing.name}` of the graph that was given is gone.")
    for node, before in pairs(case):
        if node.call != before.call:
            return Violation(
                f"Node `{node.name}` has other arguments than before: only its place was to change.", node.index
            )
    return None


def inputs_keep_order(case: CaseView) -> Violation | None:
    """The inputs stand in the order that they had, so the signature is the same."""
    inputs = [(node, before.index) for node, before in pairs(case) if before.op == "placeholder"]
    for (above, place), (node, earlier) in itertools.pairwise(inputs):
        if earlier < place:
            message = f"Input `{node.name}` stands behind `{above.name}`: the inputs were to keep their order."
            return Violation(message, node.index)
    return None


def followed_by_activation(case: CaseView) -> Violation | None:
    """Each call of the layer asked for, and nothing else, is followed by the activation asked for."""
    assert isinstance(case.model, Layered)
    kind, _, function = case.model.task
    layer, activation = _FAMILY[kind], _FAMILY[function]
    # None of the models has an activation of its own.
    for node in case.nodes:
        read = next((case.nodes[read] for read in node.inputs), None)
        if node in activation and read and read not in layer:
            message = f"Node `{node.name}` follows `{read.name}`, which is no layer of the kind asked."
            return Violation(message, node.index)
    return calls_after(activation, layer)(case)
