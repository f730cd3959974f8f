"""Graphs from Dynamo and AOTAutograd, with operators that write into their arguments, and an operator to find."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of, seeded


@torch.library.custom_op("fxbook_tasks::double_", mutates_args=("x",))
def double_(x: Tensor) -> None:
    """Double a tensor in place."""
    x.mul_(2)


@torch.library.custom_op("fxbook_tasks::double_.several", mutates_args=("x",))
def overload(x: Tensor, times: int) -> None:
    """Double a tensor in place several times: another overload."""
    x.mul_(2**times)


@torch.library.custom_op("other_fxbook_tasks::double_", mutates_args=("x",))
def namesake(x: Tensor) -> None:
    """Double a tensor in place: another library's operator with the same name."""
    x.mul_(2)


@torch.library.custom_op("fxbook_tasks::double", mutates_args=())
def double(x: Tensor) -> Tensor:
    """Double a tensor, but do not write into it."""
    return x * 2


double.register_fake(torch.empty_like)


@torch.library.custom_op("fxbook_tasks::double_all_", mutates_args=("x", "y"))
def double_all_(x: Tensor, y: Tensor) -> None:
    """Double two tensors in place."""
    x.mul_(2)
    y.mul_(2)


def several(x: Tensor) -> Tensor:
    """Operators that write and have almost the same name, another overload of one of them, and calls to operators that
    do not write.
    """
    low, high = torch.relu(x), torch.sin(x)
    double_(low)
    double_all_(low, high)
    namesake(low)
    overload(low, 2)
    high = high + 1
    double_(high)
    return double(low.add(high)) * 2 * high


@functools.cache
def _recorded(functional: bool) -> fx.GraphModule:
    """Dynamo's graph, or the functional graph that AOTAutograd makes from it, recorded once."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    graphs: list[fx.GraphModule] = []

    def keep(module: fx.GraphModule, _: list[Any]) -> Callable[..., Any]:
        graphs.append(copy.deepcopy(module))
        return make_boxed_func(module.forward) if functional else module.forward

    torch.compiler.reset()
    with seeded(0), torch.no_grad():
        torch.compile(several, backend=aot_autograd(fw_compiler=keep) if functional else keep)(torch.ones(2, 3))
    torch.compiler.reset()
    return graphs[-1]


def graph_and(*operators: str, functional: bool) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: a copy of the graph, and one of these operators, chosen at random."""

    def given(_: nn.Module) -> tuple[Any, ...]:
        graph = copy.deepcopy(_recorded(functional)).graph
        for node in graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor)[:1]:
            node.target = torch.ops.aten.add.Scalar
        library, name, overload = one_of(*operators).split(".")
        operator = getattr(getattr(getattr(torch.ops, library), name), overload)
        if functional:
            with graph.inserting_before(graph.output_node()):
                graph.call_function(print, (operator,))  # an argument, but not a call
        return graph, operator

    return given


WRITING = "fxbook_tasks.double_.default", "fxbook_tasks.double_all_.default"
USAGE = Usage(
    "compute",
    cases=(
        Case("Dynamo's graph", nn.Identity, tuple, given=graph_and(WRITING[0], functional=False)),
        Case("an operator that writes", nn.Identity, tuple, given=graph_and(WRITING[0], functional=True)),
        Case("an operator that writes two tensors", nn.Identity, tuple, True, graph_and(WRITING[1], functional=True)),
        Case(
            "an ATen operator",
            nn.Identity,
            tuple,
            unseen=True,
            given=graph_and("aten.add.Tensor", "aten.add.Scalar", functional=True),
        ),
        Case(
            "an operator that Dynamo does not call",
            nn.Identity,
            tuple,
            unseen=True,
            given=graph_and("aten.add.Tensor", "aten.mul.Tensor", functional=False),
        ),
    ),
)
