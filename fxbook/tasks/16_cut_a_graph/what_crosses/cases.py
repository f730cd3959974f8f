"""Graphs, each cut before a randomly chosen node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.zoo import last_users_first

from ..cases import Residual, exported


class Spread(nn.Module):
    """A value that nothing uses, a value made by a method from a weight alone, values that are made early and returned
    in a list in a dict, and values in a list passed by keyword.

    The node of the first input has a name other than its target, and some node names begin with another node's name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(()))

    def forward(self, input: Tensor, outputs: Tensor) -> dict[str, list[Tensor]]:
        early, other = torch.sin(input), torch.relu(input)
        torch.expm1(early)
        factor = self.scale.abs()
        low, high = torch.chunk(outputs, 2)
        middle = torch.tanh(low)
        joined = torch.cat(tensors=[high, middle, other, input])
        return {"early": [early, other], "late": [torch.exp(joined) * other.mean() * factor]}


def cut_at(*names: str) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: the model's graph, and the name of one of these nodes."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        graph = fx.symbolic_trace(model).graph
        last_users_first(graph)
        return graph, one_of(*names)

    return given


def cut_of_gpt2(_: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: the exported graph of GPT-2, and the name of a call in its first block."""
    graph = exported("gpt2").graph
    calls = [node for node in graph.nodes if node.op == "call_function"]
    inside = [node.name for node in calls if "h.0" in str(node.meta.get("nn_module_stack"))]
    return graph, one_of(*inside)


USAGE = Usage(
    "compute",
    cases=(
        Case("a block with skip connections", Residual, tuple, given=cut_at("up", "relu", "down")),
        Case("before the last additions", Residual, tuple, given=cut_at("mul_1", "add", "add_1")),
        Case("a value made early and returned", Spread, tuple, unseen=True, given=cut_at("tanh", "cat", "exp")),
        Case("GPT-2, exported", nn.Identity, tuple, unseen=True, given=cut_of_gpt2),
        Case("before the output", Spread, tuple, unseen=True, given=cut_at("output")),
        Case("a value that nothing uses", Spread, tuple, unseen=True, given=cut_at("chunk", "getitem")),
    ),
)
