"""The models that the exercises of chapter 08 run, and graphs that tell which values are alive at each node."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

ROWS, WIDTH = 4, 8


def draw(count: int, rows: int = ROWS, width: int = WIDTH) -> list[Tensor]:
    """``count`` inputs that nothing but the list holds."""
    return [torch.randn(rows, width) for _ in range(count)]


class Attention(nn.Module):
    """The model of the chapter."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.out = nn.Linear(width, width)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = query @ key.transpose(0, 1)
        mixed = scores.softmax(dim=-1) @ value
        return self.out(mixed)


class Mixed(nn.Module):
    """Gated mixing without weights: no node returns a view of what it reads."""

    def forward(self, gate: Tensor, left: Tensor, right: Tensor) -> Tensor:
        opened = torch.sigmoid(gate)
        blended = opened * left + (1.0 - opened) * right
        return torch.tanh(blended)


class Nested(nn.Module):
    """Values read in lists, by name, twice, and by nodes that are not the last made."""

    def forward(self, first: Tensor, second: Tensor, third: Tensor) -> dict[str, Any]:
        total = torch.add(first, second, alpha=2)
        joined = torch.cat([third, total, first], dim=0)
        scaled = torch.mul(input=joined, other=joined)
        return {"scaled": scaled, "pair": (second * 2.0, third.exp())}


class Unused(nn.Module):
    """An input that no node reads, and two results that no node reads."""

    def forward(self, features: Tensor, mask: Tensor, scale: Tensor) -> Tensor:
        hidden = torch.exp(features)
        torch.square(hidden)
        doubled = torch.mul(hidden, 2.0)
        torch.cos(scale)
        rooted = torch.sqrt(doubled)
        return torch.mul(rooted, scale)


class InPlace(nn.Module):
    """A value changed in place: no node reads what the change returns, which is the value itself."""

    def forward(self, features: Tensor, bias: Tensor) -> Tensor:
        hidden = torch.exp(features)
        hidden.add_(bias)
        squared = torch.square(hidden)
        return torch.tanh(squared).neg()


class Residual(nn.Module):
    """An input that is read by the first and by the last step, and one that is returned as it came."""

    def forward(self, features: Tensor, kept: Tensor, shift: Tensor) -> tuple[Tensor, Tensor]:
        hidden = torch.relu(features)
        moved = torch.sub(hidden, shift)
        return torch.add(features, torch.tanh(moved)), kept


class Skip(nn.Module):
    """An input that is read by the first and by the last step."""

    def forward(self, features: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        hidden = torch.relu(features)
        moved = torch.sub(hidden * scale, shift)
        return torch.add(features, torch.tanh(moved))


class Layered(nn.Module):
    """A layer, methods and a function; no node returns a view of what it reads."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, features: Tensor, gate: Tensor, shift: Tensor) -> Tensor:
        normed = self.norm(features)
        mixed = torch.mul(normed, gate.sigmoid())
        return mixed.add(shift).tanh()


class Weighted(nn.Module):
    """A layer, methods, and a weight that a node of its own fetches."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.to_hidden = nn.Linear(width, width)

    def forward(self, features: Tensor, shift: Tensor) -> Tensor:
        scaled = features * self.scale
        hidden = self.to_hidden(scaled).relu()
        return hidden.mul(self.scale) + shift


class Typed(nn.Module):
    """Fails at a function that reads by name, for the dtype of what two other nodes give."""

    def forward(self, features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        doubled = weight.double()
        hidden = torch.relu(features + bias)
        return torch.mm(input=hidden, mat2=doubled).sum()


class Joined(nn.Module):
    """Fails at a function that reads a list, for the shape of what two other nodes give."""

    def forward(self, features: Tensor, more: Tensor) -> Tensor:
        opened = torch.sigmoid(more)
        doubled = features * 2.0
        return torch.cat([doubled, opened], dim=0).sum()


class Indexed(nn.Module):
    """Fails with an IndexError: a tensor of one dimension has no second one to be summed over."""

    def forward(self, features: Tensor) -> Tensor:
        pooled = features.mean(dim=0)
        return torch.sum(pooled, dim=1) + features.sum()


def moved(model: nn.Module) -> fx.GraphModule:
    """The traced model, each step moved up to what it reads, behind the inputs: ``users`` keeps the order of before."""
    traced = fx.symbolic_trace(model)
    last_input = max(traced.graph.find_nodes(op="placeholder"))
    for node in list(traced.graph.nodes):
        if node.op.startswith("call"):
            max(last_input, *node.all_input_nodes).append(node)
    traced.recompile()
    return traced


class Watch:
    """Notes, whenever a step computes, which values are alive: whose memory is there. Holds weak references only.

    ``steps`` is a list of ``(name of the node, names of the values alive)``, the step's own result not among them. A
    result in memory that is known already, as an in-place method gives, goes by the name it had. ``astray`` has the
    steps that were given another value than the one their node reads: ``(name of the node, name of the value, name of
    what it got)``, the last ``""`` for a tensor that is neither an input nor a result.
    """

    def __init__(self) -> None:
        self.steps: list[tuple[str, list[str]]] = []
        self.astray: list[tuple[str, str, str]] = []
        self._refs: dict[str, weakref.ref[torch.UntypedStorage]] = {}
        self._known_as: dict[str, str] = {}

    def see(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor):
            known = self._name(value)
            if known:
                self._known_as[name] = known
            else:
                self._refs[name] = weakref.ref(value.untyped_storage())

    def compute(self, name: str, asked: list[str], values: list[Any]) -> None:
        """A step is about to compute, from these values; ``asked`` are those that its node reads."""
        self.steps.append((name, self.alive()))
        for read, value in zip(asked, values, strict=False):
            found = self._name(value)
            if found != self._known_as.get(read, read):
                self.astray.append((name, read, found))

    def alive(self) -> list[str]:
        return [name for name, ref in self._refs.items() if ref() is not None]

    def _name(self, value: Tensor) -> str:
        store = value.untyped_storage()
        return next((name for name, ref in self._refs.items() if ref() is store), "")

    def __deepcopy__(self, memo: dict[int, Any]) -> Watch:
        return self


class Step:
    """The target of a node: computes what the node computed before, and tells the watch."""

    def __init__(self, watch: Watch, node: fx.Node, function: Callable[..., Any]) -> None:
        self.watch, self.name, self.function = watch, node.name, function
        self.reads: list[str] = []
        fx.node.map_arg((node.args, node.kwargs), lambda read: self.reads.append(read.name))
        # The names that generated code needs of a function.
        self.__name__ = self.__qualname__ = f"step_{node.name}"
        self.__module__ = __name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [value for value in pytree.tree_leaves((args, kwargs)) if isinstance(value, Tensor)]
        self.watch.compute(self.name, self.reads, given)
        del given
        result = self.function(*args, **kwargs)
        self.watch.see(self.name, result)
        return result

    def __deepcopy__(self, memo: dict[int, Any]) -> Step:
        return self


def watched(model: nn.Module) -> tuple[fx.GraphModule, Watch]:
    """The traced model, each of its calls a :class:`Step`; names, order and readers are those of the trace."""
    traced, watch = fx.symbolic_trace(model), Watch()
    for node in traced.graph.nodes:
        if node.op == "call_method":
            function: Callable[..., Any] = functools.partial(_method, node.target)
        elif node.op == "call_module":
            function = traced.get_submodule(node.target)
        elif node.op == "call_function":
            function = node.target
        else:
            continue
        node.op, node.target = "call_function", Step(watch, node, function)
    traced.recompile()
    return traced, watch


def _method(name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
    return getattr(value, name)(*args, **kwargs)
