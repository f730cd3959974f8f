"""A graph that the reader edits on the page: the data of a lab, made from a real module."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import fx, nn
from torch._library.utils import is_impure
from torch.fx.graph import magic_methods
from torch.fx.node import _get_qualified_name

from fxbook.graph.record import not_traced

_ONE = (("input", "tensor"),)
_TWO = (("input", "tensor"), ("other", "value"))

_A, _AB = (("a", "tensor"),), (("a", "tensor"), ("b", "value"))
"""The parameters of an operator, which takes no keywords."""

FUNCTIONS: dict[str, tuple[Any, tuple[tuple[str, str], ...]]] = {
    **{f"operator.{name}": (getattr(operator, name), _AB) for name in ("add", "sub", "mul", "truediv")},
    "operator.neg": (operator.neg, _A),
    "operator.getitem": (operator.getitem, (*_A, ("b", "number"))),
    **{
        f"torch.{name}": (getattr(torch, name), _ONE)
        for name in ("sin", "cos", "tan", "tanh", "exp", "abs", "sqrt", "neg", "round", "sigmoid", "relu")
    },
    "torch.sum": (torch.sum, (*_ONE, ("dim", "number"))),
    **{f"torch.{name}": (getattr(torch, name), _TWO) for name in ("add", "sub", "mul")},
    "torch.cat": (torch.cat, (("tensors", "list"), ("dim", "number"))),
    "torch._assert": (torch._assert, (("condition", "value"), ("message", "text"))),
    "torch.nn.functional.relu": (nn.functional.relu, (*_ONE, ("inplace", "flag"))),
    "torch.nn.functional.gelu": (nn.functional.gelu, _ONE),
}
"""The functions a lab can compute, by their Python name, with the name and the kind of each parameter."""
METHODS = [
    name[6:]
    for name, (_, takes) in FUNCTIONS.items()
    if name.count(".") == 1 and takes[0] == _ONE[0] and name[:6] == "torch."
]
LAYERS = (nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.Identity, nn.Dropout, nn.Linear)


_KNOWN = {
    "call_function": f"it computes {', '.join(FUNCTIONS)}",
    "call_method": f"it computes {', '.join(METHODS)}",
    "call_module": f"it has {', '.join(layer.__name__ for layer in LAYERS)}; Dropout in eval mode only, "
    "ReLU not in place, GELU without approximation, and no layer with hooks",
    "get_attr": "make the tensor a parameter or a buffer",
    "placeholder": "give a tensor for it in `inputs`",
}


def lab_data(module: fx.GraphModule, inputs: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """The graph of a lab (without annotations), its weights and its inputs, as JSON.

    Raises:
        TypeError: it is not a ``GraphModule``.
        ValueError: the lab would differ from torch; the message says how, and what to do.
    """
    if not isinstance(module, fx.GraphModule):
        raise not_traced(module)
    names = {function: name for name, (function, _) in FUNCTIONS.items()}
    attributes = dict([*module.named_parameters(), *module.named_buffers()])
    namespace = module.graph._graph_namespace

    def encode(argument: Any) -> Any:
        if isinstance(argument, fx.Node):
            return {"node": argument.name}
        if isinstance(argument, tuple):
            return {"tuple": [encode(item) for item in argument]}
        if isinstance(argument, list):
            return [encode(item) for item in argument]
        if isinstance(argument, float) and math.isfinite(argument):
            return {"float": argument}
        if argument is None or (isinstance(argument, int) and abs(argument) < 2**53):
            return argument
        if isinstance(argument, str) and repr(argument) == f"'{argument}'":
            return argument
        raise ValueError(f"a lab cannot show the argument {argument}: trace a model without it")

    def target(node: fx.Node) -> str:
        known: dict[str, Collection[Any]] = {
            "call_function": names,
            "call_method": METHODS,
            "call_module": layers,
            "get_attr": attributes,
            "placeholder": inputs,
        }
        if node.target not in known.get(node.op, [node.target]):
            called = fx.Node._pretty_print_target(node.target)
            raise ValueError(f"a lab does not know `{called}`, which `{node.name}` needs: {_KNOWN[node.op]}")
        return names[node.target] if node.op == "call_function" else str(node.target)

    layers: dict[str, Any] = {}
    for name, child in module.named_modules():
        if _computed(child):
            layers[name] = {"layer": type(child).__name__}
            layers[name].update({key: numbers(value) for key, value in child.named_parameters()})
    return {
        "nodes": [
            {
                "name": node.name,
                "op": node.op,
                "target": target(node),
                "args": [encode(item) for item in node.args],
                "kwargs": {key: encode(item) for key, item in node.kwargs.items()},
                "users": [user.name for user in node.users],
            }
            for node in module.graph.nodes
        ],
        "namespace": {"used": sorted(namespace._used_names), "counts": dict(namespace._base_count)},
        "functions": {name: _function(name, *about) for name, about in FUNCTIONS.items()},
        "methods": METHODS,
        "modules": layers,
        "attributes": {name: numbers(value) for name, value in attributes.items()},
        "inputs": {name: numbers(value) for name, value in inputs.items()},
        # What Run passes to an input that the reader adds.
        "spare": numbers(torch.ones_like(next(iter(inputs.values()), torch.ones(1)))),
    }


def _computed(layer: nn.Module) -> bool:
    if type(layer) not in LAYERS or layer._forward_hooks or layer._forward_pre_hooks:
        return False
    if isinstance(layer, nn.Dropout):
        return not layer.training
    return not getattr(layer, "inplace", False) and getattr(layer, "approximate", "none") == "none"


def numbers(tensor: torch.Tensor) -> dict[str, Any]:
    """A tensor of any type as the float64 numbers of a lab; raises ValueError for numbers that JSON cannot hold."""
    if tensor.is_complex() or not tensor.isfinite().all():
        raise ValueError("a lab computes with finite real numbers: give it a tensor of such numbers")
    return {"shape": list(tensor.shape), "data": tensor.detach().double().flatten().tolist()}


def _function(name: str, function: Any, parameters: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """How torch writes a function (in code, in a printed graph, as a node's name), and whether dead calls stay."""
    return {
        "name": fx.Graph()._target_to_str(function),
        "code": _get_qualified_name(function),
        "shown": fx.Node._pretty_print_target(function),
        "python": name.replace("torch.nn.functional", "nn.functional"),
        "parameters": parameters,
        "keywords": not name.startswith("operator."),
        "format": magic_methods.get(function.__name__) if function.__module__ == "_operator" else None,
        "impure": bool(is_impure(function, args=(), kwargs={}, impure_random=True)),
    }
