"""Models with and without activations to change, and a count of how often an answer compiles them."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.graph.naming import target_name
from fxbook.graph.record import record

from ..cases import FeedForward, Gated, relus, renamed, rows


class Mixed(nn.Module):
    """ReLU in six spellings; ``torch.relu`` with its argument by keyword; dead calls in two spellings."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.relu(torch.relu_(self.first(x)).relu_()) - nn.functional.relu(x)
        torch.relu(x), x.relu()
        return torch.relu(input=hidden) + (hidden * x).relu()


class NothingToChange(nn.Module):
    """Calls no ``torch.relu``, only other functions."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.layer(x)) - torch.sigmoid(x)


def with_input(model: nn.Module) -> tuple[Any, ...]:
    return fx.symbolic_trace(model), torch.randn(3, 4)


def renamed_with_input(model: nn.Module) -> tuple[Any, ...]:
    return renamed(model), torch.randn(3, 4)


def counted(answer: Callable[[fx.GraphModule], Any], traced: fx.GraphModule, x: Tensor) -> dict[str, Any]:
    """How often the answer compiles the module, and the state of the module afterwards."""
    count = 0
    others = _other_calls(traced.graph)
    compile_it = traced.recompile

    def counting() -> Any:
        nonlocal count
        count += 1
        return compile_it()

    # Set on the object, so that an assignment to traced.graph calls it too.
    traced.__dict__["recompile"] = counting
    returned = answer(traced)
    del traced.__dict__["recompile"]
    graph = record(traced)
    remaining = [node.name for node in relus(traced.graph)]
    gone = list((others - _other_calls(traced.graph)).elements())
    made = [[node.name, node.target.__name__] for node in traced.graph.nodes if isinstance(node.target, type)]
    return {
        "compiles": count,
        "elsewhere": isinstance(returned, fx.GraphModule) and returned is not traced,
        "stale": graph.stale,
        "lint": graph.lint,
        "left": remaining,
        "gone": gone,
        "made": made,
        "result": None if graph.lint or remaining or gone or made else traced.forward(x),
    }


def _other_calls(graph: fx.Graph) -> collections.Counter[str]:
    """The calls to anything but ``torch.relu``, as opcode and target."""
    activations = relus(graph)
    called = [node for node in graph.nodes if node.op.startswith("call") and node not in activations]
    return collections.Counter(f"{node.op} of {target_name(node)}" for node in called)


USAGE = Usage(
    "compute",
    cases=(
        Case("a model with two activations", Gated, rows),
        Case("the block of the chapter", FeedForward, rows, unseen=True),
        Case("a model without an activation to change", NothingToChange, rows, unseen=True),
        Case("renamed nodes", Gated, rows, True, renamed_with_input),
        Case("other spellings of ReLU next to torch.relu", Mixed, rows, unseen=True),
    ),
    given=with_input,
    call=counted,
)
