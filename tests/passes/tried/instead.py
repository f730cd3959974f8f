"""The expected results of passes that change values or outputs, computed by interpreting the original graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils._pytree import tree_map_only

functional = nn.functional


class Instead(fx.Interpreter):
    """Runs the original graph with some nodes changed as the pass should change them."""

    def run_node(self, n: fx.Node) -> Any:
        value = self.instead(n, *self.fetch_args_kwargs_from_env(n))
        return super().run_node(n) if value is None else value

    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of a changed node, or ``None`` for others."""
        raise NotImplementedError


class TanhForTheFunction(Instead):
    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return torch.tanh(*args, **kwargs) if node.target is torch.relu else None


class Gelu(Instead):
    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called = self.module.get_submodule(node.target) if node.op == "call_module" else node.target
        if type(called) is nn.ReLU:
            in_place = called.inplace
        elif called in (torch.relu, "relu", functional.relu):
            in_place = kwargs.get("inplace", len(args) > 1 and args[1])
        elif called in (torch.relu_, "relu_", functional.relu_):
            in_place = True
        else:
            return None
        [x] = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        value = functional.gelu(x.clone())
        return x.copy_(value) if in_place else value


class Limited(Instead):
    """No clamp between numbers gives more than zero."""

    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if node.target not in (torch.clamp, torch.clip, "clamp", "clip"):
            return None
        bounds = [kwargs.get(name, args[at] if len(args) > at else None) for at, name in ((1, "min"), (2, "max"))]
        if any(isinstance(bound, Tensor) for bound in bounds):
            return None
        x = kwargs.get("input", args[0] if args else None)
        return torch.clamp(x, bounds[0], min(0, 0 if bounds[1] is None else bounds[1]))


class LogOfSquares(Instead):
    """Each call to `torch.relu` is followed by the logarithm of 1 + x²."""

    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return torch.relu(*args, **kwargs).square().log1p() if node.target is torch.relu else None


class HalfOfALayer(Instead):
    """Each call to the layer that is called first returns half its value."""

    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if node.op != "call_module" or node.target not in layers(self.module)[:1]:
            return None
        return self.call_module(node.target, args, kwargs) * 0.5


class WithoutAHead(Instead):
    """The first head of the first attention returns zeros."""

    def instead(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        attends = functional.scaled_dot_product_attention
        calls = self.module.graph.find_nodes(op="call_function", target=attends)
        if not calls or node is not calls[0]:
            return None
        value = attends(*args, **kwargs)
        return torch.cat([torch.zeros_like(value[:, :1]), value[:, 1:]], 1)


class Kept(fx.Interpreter):
    """Returns the values of chosen nodes as they were computed, or the graph's own results if none is chosen."""

    def __init__(self, module: fx.GraphModule, names: Callable[[fx.GraphModule], dict[str, str]]) -> None:
        super().__init__(module)
        self._names, self._values = names(module), {}

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n.op == "output":
            return self._values if self._names else value
        if n.name in self._names:
            self._values[self._names[n.name]] = tree_map_only(torch.Tensor, torch.clone, value)
        return value


def layers(module: fx.GraphModule) -> list[str]:
    """The layers that a graph calls and that return one tensor, in order."""
    calls = module.graph.find_nodes(op="call_module")
    return [node.target for node in calls if hasattr(node.meta.get("tensor_meta"), "shape")]


def some_tensors(module: fx.GraphModule) -> dict[str, str]:
    """By name, three nodes that compute a single tensor: the first, one in the middle, and the second to last."""
    nodes = [
        node for node in module.graph.nodes if hasattr(node.meta.get("tensor_meta"), "shape") and node.op != "output"
    ]
    chosen = [nodes[0], nodes[len(nodes) // 2], nodes[max(len(nodes) - 2, 0)]]
    return {node.name: node.name for node in chosen}


def some_layers(module: fx.GraphModule) -> dict[str, str]:
    """Up to two layers that are called once, by the names of their calls."""
    called = layers(module)
    calls = [n for n in module.graph.find_nodes(op="call_module") if called.count(n.target) == 1]
    return {node.name: node.target for node in calls[:2]}
