"""Pairs of graphs that AOTAutograd makes: one for the forward pass and one for the backward pass."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of, seeded
from fxbook.cases.real import real

from ..cases import WIDTH, FeedForward, rows


def gelu_by_parts(x: Tensor) -> Tensor:
    """The activation function of GPT-2, as a formula."""
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))
    return 0.5 * x * (1 + torch.tanh(inner))


def two_results(x: Tensor) -> tuple[Tensor, Tensor]:
    """The first result is also saved for the backward pass."""
    opened = torch.exp(x)
    return opened, torch.sin(opened) * torch.tanh(x)


def of_many_sizes(x: Tensor) -> Tensor:
    """Saves float32 and float64 values, indices, and a view of a larger value."""
    wide = (torch.sigmoid(x).double() * torch.sin(x).double()).float()
    return wide.topk(2).values * torch.exp(x)[..., :2].sin()


def activation_of_gpt2() -> nn.Module:
    return copy.deepcopy(real("gpt2").transformer.h[0].mlp.act)


def training_block() -> nn.Module:
    """Its norm changes buffers, so the graph returns their new values before its result."""
    return FeedForward().train()


def leaf() -> tuple[Tensor]:
    return (torch.randn(WIDTH).requires_grad_(),)


def long_leaf() -> tuple[Tensor]:
    return (torch.randn(3, WIDTH).requires_grad_(),)


@functools.cache
def _pair(
    make: Callable[[], Callable[..., Any]], inputs: Callable[[], tuple[Any, ...]], is_min_cut: bool
) -> tuple[fx.GraphModule, fx.GraphModule]:
    """The two graphs of the model or function that ``make()`` returns, captured once."""
    from functorch.compile import default_partition, make_boxed_func, min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    graphs: list[fx.GraphModule] = []

    def keep(module: fx.GraphModule, _: list[Any]) -> Callable[..., Any]:
        graphs.append(copy.deepcopy(module))
        return make_boxed_func(module.forward)

    partition = min_cut_rematerialization_partition if is_min_cut else default_partition
    torch.compiler.reset()
    with seeded(0), torch.enable_grad():
        compiled = torch.compile(
            make(), backend=aot_autograd(fw_compiler=keep, bw_compiler=keep, partition_fn=partition)
        )
        results = compiled(*inputs())
        sum(result.sum() for result in (results if isinstance(results, tuple) else (results,))).backward()
    torch.compiler.reset()
    forward, backward = graphs
    return forward, backward


def pair_of(
    make: Callable[[], Callable[..., Any]], *inputs: Callable[[], tuple[Any, ...]], is_min_cut: bool = False
) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Pass a copy of the two graphs, captured for one of these inputs, chosen at random.

    The inputs of the backward graph are reordered, so that they are not in the order of the forward graph.
    """

    def given(_: nn.Module) -> tuple[Any, ...]:
        forward, backward = (copy.deepcopy(graph) for graph in _pair(make, one_of(*inputs), is_min_cut))
        *others, last = backward.graph.find_nodes(op="placeholder")
        for node in others:
            last.append(node)
        backward.recompile()
        return forward, backward

    return given


PARTS, TWO, MANY = (lambda: gelu_by_parts), (lambda: two_results), (lambda: of_many_sizes)
USAGE = Usage(
    "compute",
    cases=(
        Case("the activation of GPT-2", nn.Identity, tuple, given=pair_of(activation_of_gpt2, leaf, long_leaf)),
        Case("two results", nn.Identity, tuple, given=pair_of(TWO, leaf, long_leaf)),
        Case("new values of buffers", nn.Identity, tuple, unseen=True, given=pair_of(training_block, rows(3), rows(5))),
        Case("three dtypes, and a view", nn.Identity, tuple, unseen=True, given=pair_of(MANY, leaf, long_leaf)),
        Case("a minimal cut", nn.Identity, tuple, unseen=True, given=pair_of(PARTS, leaf, long_leaf, is_min_cut=True)),
    ),
)
