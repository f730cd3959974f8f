"""What the cases of chapter 08 share: models, the arguments of an answer, and how an answer is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases.zoo import last_users_first

ROWS, WIDTH = 4, 8


class Attention(nn.Module):
    """The model from chapter 08."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.out = nn.Linear(width, width)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = query @ key.transpose(0, 1)
        mixed = scores.softmax(dim=-1) @ value
        return self.out(mixed)


class Mixed(nn.Module):
    """Gated mixing without weights; no node returns a view of its input."""

    def forward(self, gate: Tensor, left: Tensor, right: Tensor) -> Tensor:
        opened = torch.sigmoid(gate)
        blended = opened * left + (1.0 - opened) * right
        return torch.tanh(blended)


class Nested(nn.Module):
    """Values used in lists, by keyword, twice by one node, and by several nodes."""

    def forward(self, first: Tensor, second: Tensor, third: Tensor) -> dict[str, Any]:
        total = torch.add(first, second, alpha=2)
        joined = torch.cat([third, total, first], dim=0)
        scaled = torch.mul(input=joined, other=joined)
        return {"scaled": scaled, "pair": (second * 2.0, third.exp())}


class Unused(nn.Module):
    """An input without users, and two results without users."""

    def forward(self, features: Tensor, mask: Tensor, scale: Tensor) -> Tensor:
        hidden = torch.exp(features)
        torch.square(hidden)
        doubled = torch.mul(hidden, 2.0)
        torch.cos(scale)
        rooted = torch.sqrt(doubled)
        return torch.mul(rooted, scale)


class Residual(nn.Module):
    """An input that both the first and the last step use, and an input that is returned unchanged."""

    def forward(self, features: Tensor, kept: Tensor, shift: Tensor) -> tuple[Tensor, Tensor]:
        hidden = torch.relu(features)
        moved = torch.sub(hidden, shift)
        return torch.add(features, torch.tanh(moved)), kept


class Weighted(nn.Module):
    """A layer, methods, and a weight that a ``get_attr`` node fetches."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.to_hidden = nn.Linear(width, width)

    def forward(self, features: Tensor, shift: Tensor) -> Tensor:
        scaled = features * self.scale
        hidden = self.to_hidden(scaled).relu()
        return hidden.mul(self.scale) + shift


class Windowed(nn.Module):
    """A value used in a slice, a weight fetched after the first step, a value that is both used and returned, and one
    that a node uses twice and a later node once.

    The node of the first input is not named after the parameter, and the last user of this input has no users.
    """

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, input: Tensor, length: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        hidden = torch.relu(input)
        scaled = hidden[:length] * self.scale
        torch.cos(input)
        return hidden, torch.mul(scaled, scaled), scaled.sum()


def graph_of(model: nn.Module) -> tuple[fx.Graph]:
    """Pass the graph of the traced model."""
    return (fx.symbolic_trace(model).graph,)


def moved_graph_of(model: nn.Module) -> tuple[fx.Graph]:
    """Pass the graph after moving each step to directly after its inputs; ``users`` keeps its former order."""
    graph = fx.symbolic_trace(model).graph
    last_input = max(graph.find_nodes(op="placeholder"))
    for node in list(graph.nodes):
        if node.op.startswith("call"):
            max(last_input, *node.all_input_nodes).append(node)
    return (graph,)


def with_inputs(
    *shapes: tuple[int, ...], kind: type[fx.Interpreter] | None = None, edited: bool = False
) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Pass the interpreter class, if any, the traced model, and a list of inputs with these shapes."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        traced, tensors = fx.symbolic_trace(model), [torch.randn(shape) for shape in shapes]
        if edited:
            last_users_first(traced.graph)
        return (traced, tensors) if kind is None else (kind, traced, tensors)

    return given


def without_gradients(answer: Callable[..., Any], *arguments: Any) -> Any:
    """Call the answer without gradients, because autograd would keep values of the run alive."""
    with torch.no_grad():
        return answer(*arguments)
