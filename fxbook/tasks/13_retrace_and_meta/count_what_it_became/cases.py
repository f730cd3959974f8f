"""Traced graphs, each with an input and the operators that the retrace must decompose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch._decomp import get_decompositions
from torch.fx.experimental.proxy_tensor import make_fx

from fxbook.cases import Case, Usage

from ..cases import WIDTH, Gated, gpt2, llama, tokens

_aten = torch.ops.aten


class Repeated(nn.Module):
    """Three nodes that call the same operation; a cast, and a cast that does nothing; a call that returns a pair; a
    detached value; in-place calls without users, the second of which becomes a node without users; and a weight that
    requires a gradient.
    """

    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.proj.weight.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        low, high = torch.chunk(nn.functional.silu(x.float()).float(), 2, -1)
        mixed = nn.functional.hardswish(low) + nn.functional.silu(high)
        mixed.add_(1)
        both = torch.cat([mixed.detach(), low], -1)
        low.mul_(2)
        return nn.functional.silu(self.proj(both))


def some_of(
    *operators: Any, fewest: int = 1, dtype: torch.dtype = torch.float32
) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: the traced model, a random input, and a random selection of the operators."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        count = int(torch.randint(fewest, len(operators) + 1, ()))
        chosen = [operators[place] for place in sorted(torch.randperm(len(operators))[:count].tolist())]
        traced, x = fx.symbolic_trace(model), tokens().to(dtype)
        # A node may have a note already, with which an answer must not confuse its own.
        last = traced.graph.output_node().prev
        last.meta["custom"] = {"seen": True}
        # The first retrace in a process loads modules that all later retraces use.
        make_fx(fx.Interpreter(traced).run, decomposition_table=get_decompositions(chosen))(x)
        return traced, x, chosen

    return given


USAGE = Usage(
    "compute",
    cases=(
        Case("a block of Llama", llama, tuple, given=some_of(_aten.silu, _aten.mean, fewest=2)),
        Case("a block of GPT-2", gpt2, tuple, given=some_of(_aten.native_layer_norm)),
        Case("a block written by hand", Gated, tuple, unseen=True, given=some_of(_aten.hardswish, _aten.addmm)),
        Case(
            "an operation in three nodes",
            Repeated,
            tuple,
            unseen=True,
            given=some_of(_aten.silu, _aten.hardswish, fewest=2, dtype=torch.float16),
        ),
    ),
)
