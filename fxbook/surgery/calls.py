"""Read calls in one way, whichever front end wrote them: the kind in one word, and the arguments by name.

A convolution is a layer in a graph from ``symbolic_trace``, a torch function in a graph from ``torch.compile``, and an
ATen operator in a graph from ``torch.export``. A pass that reads calls through this module handles all three.
"""

from __future__ import annotations

import inspect
import operator
from typing import Any

import torch
from torch import fx, nn

aten, functional = torch.ops.aten, nn.functional
UNKNOWN = "unknown"


def kind_of(node: fx.Node) -> str:
    """What a call computes, in one lowercase word without underscores: ``conv2d``, ``convtranspose2d``, ``batchnorm``.

    A layer counts as its class only if that is a class of ``torch.nn``: a subclass may compute something else. Only
    torch's own functions and operators are known. Anything else is ``"unknown"``.
    """
    target, name = node.target, UNKNOWN
    if node.op == "call_module":
        kind = type(node.graph.owning_module.get_submodule(str(target)))
        name = kind.__name__ if getattr(nn, kind.__name__, None) is kind else UNKNOWN
    elif isinstance(target, torch._ops.OpOverload):
        name = target._schema.name.partition("::")[2] if target.namespace == "aten" else UNKNOWN
    elif node.op == "call_function":
        known = getattr(target, "__name__", UNKNOWN)
        name = known if any(getattr(home, known, None) is target for home in (functional, torch)) else UNKNOWN
    return name.replace("_", "").lower()


def given(node: fx.Node) -> dict[str, Any]:
    """What a layer or a call computes with, by name. A stored tensor is represented by the node that fetches it.

    For a layer, these are its attributes, parameters and buffers, and ``input``, the node that it is called on. For an
    operator or a function, they are all its arguments, with defaults.
    """
    module = node.graph.owning_module
    if node.op == "call_module":
        layer = module.get_submodule(str(node.target))
        stored = {**dict(layer.named_parameters(recurse=False)), **dict(layer.named_buffers(recurse=False))}
        absent = dict.fromkeys([*layer._parameters, *layer._buffers])
        called_on = node.args[0] if node.args else node.kwargs.get("input")
        return {**vars(layer), **absent, **stored, "input": called_on}

    def fetched(value: Any) -> Any:
        is_stored = isinstance(value, fx.Node) and value.op == "get_attr"
        return operator.attrgetter(value.target)(module) if is_stored else value

    return {name: fetched(value) for name, value in arguments(node).items()}


def arguments(node: fx.Node) -> dict[str, Any]:
    """All arguments of an ATen operator or a torch function by name, with defaults for those not given."""
    values = _parameters(node.target)
    return {**values, **dict(zip(values, node.args, strict=False)), **node.kwargs}


def put(node: fx.Node, name: str, value: Any) -> None:
    """Set one argument of an operator or a function, by position if it was given by position."""
    place = list(_parameters(node.target)).index(name)
    if place < len(node.args):
        node.update_arg(place, value)
    else:
        node.update_kwarg(name, value)


def _parameters(target: Any) -> dict[str, Any]:
    if inspect.isfunction(target):
        return {one.name: one.default for one in inspect.signature(target).parameters.values()}
    if not isinstance(target, torch._ops.OpOverload):
        packet = getattr(aten, target.__name__)
        target = getattr(packet, packet.overloads()[0])
    return {argument.name: argument.default_value for argument in target._schema.arguments}
