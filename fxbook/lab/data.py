"""A graph that the reader edits on the page: the data of a lab, made from a real module."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch import fx, nn
from torch._library.utils import is_impure
from torch.fx.graph import magic_methods
from torch.fx.node import _get_qualified_name

_ONE = (("input", "tensor"),)
_TWO = (("input", "tensor"), ("other", "value"))

FUNCTIONS: dict[str, tuple[Any, tuple[tuple[str, str], ...]]] = {
    **{f"operator.{name}": (getattr(operator, name), _TWO) for name in ("add", "sub", "mul", "truediv")},
    "operator.neg": (operator.neg, _ONE),
    "operator.getitem": (operator.getitem, (("input", "tensor"), ("index", "number"))),
    **{
        f"torch.{name}": (getattr(torch, name), _ONE)
        for name in ("sin", "cos", "tan", "tanh", "exp", "abs", "sqrt", "neg", "round", "sigmoid", "relu", "sum")
    },
    **{f"torch.{name}": (getattr(torch, name), _TWO) for name in ("add", "sub", "mul")},
    "torch.cat": (torch.cat, (("tensors", "list"), ("dim", "number"))),
    "torch._assert": (torch._assert, (("condition", "value"), ("message", "text"))),
    "torch.nn.functional.relu": (nn.functional.relu, (*_ONE, ("inplace", "text"))),
    "torch.nn.functional.gelu": (nn.functional.gelu, _ONE),
}
"""The functions a lab can compute, by their Python name, with the name and the kind of each parameter."""
METHODS = [
    name[6:]
    for name, (_, takes) in FUNCTIONS.items()
    if name.count(".") == 1 and takes in (_ONE, _TWO) and name[:6] == "torch."
]
LAYERS = (nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.Identity, nn.Dropout, nn.Linear)


def lab_data(module: fx.GraphModule, inputs: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """The graph, the weights and the inputs of a lab as JSON; ValueError says what a lab cannot show."""
    names = {function: name for name, (function, _) in FUNCTIONS.items()}
    namespace = module.graph._graph_namespace

    def encode(argument: Any) -> Any:
        if isinstance(argument, fx.Node):
            return {"node": argument.name}
        if isinstance(argument, tuple):
            return {"tuple": [encode(item) for item in argument]}
        if isinstance(argument, list):
            return [encode(item) for item in argument]
        if isinstance(argument, float):
            return {"float": argument}
        if argument is None or isinstance(argument, bool | int | str):
            return argument
        raise ValueError(f"a lab has no argument of the type {type(argument).__name__}: give it a smaller graph")

    def target(node: fx.Node) -> str:
        if node.op != "call_function":
            return str(node.target)
        if node.target not in names:
            raise ValueError(
                f"a lab cannot compute {_get_qualified_name(node.target)}: it knows {', '.join(FUNCTIONS)}"
            )
        return names[node.target]

    layers: dict[str, Any] = {}
    for name, child in module.named_modules():
        if type(child) in LAYERS:
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
        "attributes": {name: numbers(value) for name, value in [*module.named_parameters(), *module.named_buffers()]},
        "inputs": {name: numbers(value) for name, value in inputs.items()},
        "spare": numbers(torch.ones_like(next(iter(inputs.values())))),
    }


def numbers(tensor: torch.Tensor) -> dict[str, Any]:
    """A tensor of any type as the float64 numbers of a lab."""
    return {"shape": list(tensor.shape), "data": tensor.detach().double().flatten().tolist()}


def _function(name: str, function: Any, parameters: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """How torch writes a function: in code, in a printed graph, as a name of a node; and whether dead calls stay."""
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
