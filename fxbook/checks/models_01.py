"""The models on which the answers of chapter 01 are tried, and the graphs that some of its exercises are given."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable

import torch
from torch import fx, nn


class ShiftedNorm(nn.Module):
    """``norm(x + bias).tanh()``."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.bias).tanh()


class RotateHalf(nn.Module):
    """The second half of four columns, negated, before the first."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([-x[..., 2:], x[..., :2]], dim=-1)


class Residual(nn.Module):
    """A block that adds in the three spellings of the chapter, and does other things besides."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.bias = nn.Parameter(torch.randn(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.add(self.inner(x), self.bias)
        hidden = (torch.relu(hidden) * 2).add(x)
        return hidden + x - 1


class Sum(nn.Module):
    """A module that computes a sum, to be called under the path ``add``."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class ManySums(nn.Module):
    """Additions in place, by keyword and with ``alpha``, and nodes that only look like additions."""

    def __init__(self) -> None:
        super().__init__()
        self.add = Sum()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scaled = torch.add(x, x, alpha=2)
        plain = torch.add(scaled, x, alpha=1)
        named = torch.add(input=plain, other=x)
        called = self.add(named, x)
        placed = called.clone().add_(x)
        weighted = placed.add(x, alpha=3)
        return 1 + weighted.sub(x)


def many_sums(model: nn.Module) -> tuple[fx.GraphModule]:
    """``ManySums`` with its submodule kept whole, one ``+=`` and one misleading name."""

    class Whole(fx.Tracer):
        def is_leaf_module(self, module: nn.Module, path: str) -> bool:
            return isinstance(module, Sum)

    graph = Whole().trace(model)
    output = graph.output_node()
    with graph.inserting_before(output):
        doubled = graph.call_function(operator.iadd, (output.args[0], 1))
        result = graph.call_function(torch.mul, (doubled, 2), name="add_total")
    output.args = (result,)
    return (fx.GraphModule(model, graph),)


class DrawnSums(nn.Module):
    """Steps in an order that is drawn, some of them additions in some spelling."""

    def __init__(self) -> None:
        super().__init__()
        self.order = tuple(torch.randint(len(_STEPS), (12,)).tolist())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        value = x
        for place in self.order:
            value = _STEPS[place](value, x)
        return value


_STEPS: tuple[Callable[[torch.Tensor, torch.Tensor], torch.Tensor], ...] = (
    lambda value, x: value + x,
    lambda value, x: 2 + value,
    lambda value, x: torch.add(value, x),
    lambda value, x: torch.add(value, x, alpha=1),
    lambda value, x: torch.add(input=value, other=x, alpha=2),
    lambda value, x: value.add(x),
    lambda value, x: value.clone().add_(1.0),
    lambda value, x: value.add(x, alpha=3),
    lambda value, x: value - x,
    lambda value, x: value.sum(dim=-1, keepdim=True) * x,
    lambda value, x: torch.mul(value, 2),
    lambda value, x: value.relu(),
)


class ScaleAndShift(nn.Module):
    """``x * 2 + [1, 2, 3]``."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 + torch.tensor([1.0, 2.0, 3.0])


def scale_and_shift_by_hand(model: nn.Module) -> tuple[fx.GraphModule]:
    """``ScaleAndShift`` as a graph with tensors for arguments."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    scaled = graph.call_function(torch.mul, (x, torch.tensor(2.0)))
    graph.output(graph.call_function(torch.add, (scaled, torch.tensor([1.0, 2.0, 3.0]))))
    return (fx.GraphModule({}, graph),)


class Padded(nn.Module):
    """A column of constants on each side, a floor, then an affine map of the module's own."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("constant_0", torch.randn(5))
        self._tensor_constant0 = nn.Parameter(torch.randn(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        padded = torch.cat([torch.zeros(2, 1), x, torch.full((2, 1), 7.0)], dim=1)
        floored = torch.clamp(padded, min=torch.tensor(-0.5))
        return floored * self.constant_0 + self._tensor_constant0


def padded_by_hand(model: nn.Module) -> tuple[fx.GraphModule]:
    """``Padded`` as a graph with tensors in a list and in a keyword."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    padded = graph.call_function(torch.cat, ([torch.zeros(2, 1), x, torch.full((2, 1), 7.0)],), {"dim": 1})
    floored = graph.call_function(torch.clamp, (padded,), {"min": torch.tensor(-0.5)})
    scaled = graph.call_function(torch.mul, (floored, graph.get_attr("constant_0")))
    graph.output(graph.call_function(torch.add, (scaled, graph.get_attr("_tensor_constant0"))))
    return (fx.GraphModule(model, graph),)


def mlp() -> nn.Module:
    """Linear, norm, activation, linear."""
    return nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6, eps=0.1), nn.LeakyReLU(0.3), nn.Linear(6, 2))


def nested() -> nn.Module:
    """Blocks in blocks, one with names; a layer without a bias, a norm without weights, a layer that stands twice."""
    shared = nn.Linear(4, 4)
    named = nn.Sequential(OrderedDict(mix=nn.Linear(4, 4, bias=False), bend=nn.LeakyReLU(0.01)))
    block = nn.Sequential(shared, nn.LeakyReLU(0.5), named)
    return nn.Sequential(
        nn.LayerNorm(4, elementwise_affine=False), block, shared, nn.LayerNorm(4, eps=0.01, bias=False)
    )


def trained(model: nn.Module) -> nn.Module:
    """The model with random parameters: fresh norms are all ones and zeros, which would hide a mistake."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return model
