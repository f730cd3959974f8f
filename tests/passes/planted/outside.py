"""Faults that were planted without knowledge of the checker's code; common inputs hide each of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from tests.passes.planted.plant import Model, Plant, calls, done, erase, rows


def calling(target: Any, function: Callable[..., Any], name: str) -> Any:
    """A pass that replaces a called function and keeps the arguments."""

    def run(module: fx.GraphModule) -> PassResult:
        found = calls(module, target)
        for node in found:
            with module.graph.inserting_before(node):
                new = module.graph.call_function(function, node.args)
            new.meta = dict(node.meta)
            node.replace_all_uses_with(new)
            module.graph.erase_node(node)
        return done(module, bool(found))

    run.__name__ = name
    return run


def of(program: Callable[..., Any], name: str) -> Model:
    def model() -> fx.GraphModule:
        return fx.symbolic_trace(program)

    model.__name__ = name
    return model


def truncated(x: Tensor, y: Tensor) -> Tensor:
    return torch.div(x, y, rounding_mode="trunc")


def narrowed(x: Tensor, by: int) -> Tensor:
    return (x.to(torch.int32) * by).to(torch.int64)


def mean_by_sum(x: Tensor, dim: int) -> Tensor:
    return x.sum(dim) / max(x.size(dim), 1)


def zeros_like_now(x: Tensor) -> Tensor:
    return torch.zeros(x.shape, dtype=torch.float32, device=x.device)


def zeros_here(x: Tensor) -> Tensor:
    return torch.zeros(x.shape, dtype=x.dtype)


class _Sinh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.slope = torch.cosh(x.detach())
        return torch.sinh(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient * ctx.slope


def sinh(x: Tensor) -> Tensor:
    return _Sinh.apply(x)


def root_of_square(x: Tensor) -> Tensor:
    return torch.sqrt(x * x)


def drops(*targets: Any) -> Any:
    def run(module: fx.GraphModule) -> PassResult:
        found = calls(module, *targets)
        for node in found:
            erase(node)
        return done(module, bool(found))

    run.__name__ = f"drops_{getattr(targets[0], '__name__', targets[0])}"
    return run


def folds_a_written_constant(module: fx.GraphModule) -> PassResult:
    """Wrong from the second call on, because the graph writes to the constant."""
    found = calls(module, torch.zeros)
    for node in found:
        module.register_buffer("folded", torch.zeros(4), persistent=False)
        with module.graph.inserting_before(node):
            node.replace_all_uses_with(module.graph.get_attr("folded"))
        module.graph.erase_node(node)
    return done(module, bool(found))


def accumulating() -> fx.GraphModule:
    graph = fx.Graph()
    x = graph.placeholder("x")
    total = graph.call_method("add_", (graph.call_function(torch.zeros, (4,)), graph.call_method("sum", (x, 0))))
    graph.output(graph.call_function(torch.mul, (total, 1.0)))
    return fx.GraphModule({}, graph)


class _Nested(nn.Module):
    def forward(self, x: Tensor) -> Any:
        def inner(x: Tensor) -> Any:
            return torch.cond(x.max() > 1e6, lambda x: x.sin() + 1, lambda x: x.cos(), (x,))

        return torch.cond(x.sum() > 0, inner, lambda x: x.tanh(), (x,))


def branches_in_branches() -> fx.GraphModule:
    return torch.export.export(_Nested(), (torch.ones(3),)).module()


def adds_another_number(module: fx.GraphModule) -> PassResult:
    for part in module.modules():
        if isinstance(part, fx.GraphModule):
            for node in part.graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor):
                node.args = (node.args[0], 2)
            part.recompile()
    return PassResult(module, True)


def seeds_torch(module: fx.GraphModule) -> PassResult:
    torch.manual_seed(0)
    return PassResult(module, False)


def noted_root() -> fx.GraphModule:
    module = fx.symbolic_trace(lambda x: x.sin())
    module.meta["layout"] = "nchw"
    module.table = torch.arange(3.0)
    module.register_buffer("cached", torch.ones(2), persistent=False)
    return module


def loses_meta(module: fx.GraphModule) -> PassResult:
    module.meta.clear()
    return PassResult(module, False)


def loses_a_plain_tensor(module: fx.GraphModule) -> PassResult:
    vars(module).pop("table", None)
    return PassResult(module, False)


def saves_a_buffer(module: fx.GraphModule) -> PassResult:
    module.register_buffer("cached", module.cached)
    return PassResult(module, False)


def shares_meta(module: fx.GraphModule) -> PassResult:
    [node] = calls(module, "sin")
    next(iter(node.users)).meta = node.meta
    return PassResult(module, False)


def keeps_a_plain_tensor(module: fx.GraphModule) -> PassResult:
    if hasattr(module, "two"):
        return PassResult(module, False)
    module.two = torch.tensor(2.0)
    [node] = calls(module, operator.mul)
    with module.graph.inserting_before(node):
        node.args = (node.args[0], module.graph.get_attr("two"))
    return done(module)


ROWS, WHOLE = rows(3, 4), torch.arange(1, 13).reshape(3, 4)
NUMBERS, SIZE, STATE = ("values_of_other_numbers",), ("values_at_another_size",), ("state_kept",)
OUTSIDE = [
    Plant(
        calling(operator.floordiv, truncated, "truncates"),
        of(lambda x, y: x // y, "floors"),
        (WHOLE, WHOLE.flip(0)),
        NUMBERS,
    ),
    Plant(
        calling(operator.mul, narrowed, "narrows"),
        of(lambda x: x * 3, "whole"),
        (WHOLE,),
        NUMBERS,
    ),
    Plant(
        calling(operator.gt, operator.ge, "takes_ties_in"),
        of(lambda x: torch.where(x > 0, x + 1, x - 1), "compares"),
        (ROWS,),
        NUMBERS,
    ),
    Plant(
        calling(torch.conj, torch.clone, "drops_conj"),
        of(lambda x: torch.conj(x) * 2, "conjugated"),
        (ROWS.to(torch.complex64),),
        NUMBERS,
    ),
    Plant(
        calling(torch.zeros_like, zeros_like_now, "writes_a_dtype"),
        of(lambda x: torch.zeros_like(x), "zeros"),
        (ROWS,),
        NUMBERS,
    ),
    Plant(
        calling(torch.zeros_like, zeros_here, "writes_a_device"),
        of(lambda x: torch.zeros_like(x) + x, "zeros"),
        (ROWS,),
        NUMBERS,
    ),
    Plant(drops("masked_fill"), of(lambda x, m: x.masked_fill(m, 0.0) * 2, "masked"), (ROWS, ROWS > 99), NUMBERS),
    Plant(drops("expand_as"), of(lambda x, y: (x.expand_as(y) + 1).sum(0), "expanded"), (ROWS, ROWS), SIZE),
    Plant(
        calling("mean", mean_by_sum, "gives_no_nan"),
        of(lambda x: x.mean(0), "mean"),
        (ROWS,),
        SIZE,
    ),
    Plant(
        drops("to"),
        of(lambda x: x.to(memory_format=torch.channels_last), "channels_last"),
        (rows(2, 3, 4, 4),),
        ("values",),
    ),
    Plant(folds_a_written_constant, accumulating, (ROWS,), ("values",)),
    Plant(adds_another_number, branches_in_branches, (torch.ones(3),), ("values",)),
    Plant(
        calling(torch.sinh, sinh, "differentiates_once"),
        of(lambda x: torch.sinh(x), "hyperbolic"),
        (ROWS,),
        ("gradients",),
    ),
    Plant(
        calling(torch.abs, root_of_square, "has_no_slope_at_0"),
        of(lambda x: torch.abs(x) + 1, "distance"),
        (ROWS,),
        ("gradients",),
    ),
    Plant(seeds_torch, of(lambda x: x.sin(), "sine"), (ROWS,), ("purity",)),
    *(Plant(run, noted_root, (ROWS,), STATE) for run in (loses_meta, loses_a_plain_tensor, saves_a_buffer)),
    Plant(keeps_a_plain_tensor, of(lambda x: x * 2, "doubled"), (ROWS,), STATE),
    Plant(shares_meta, of(lambda x: x.sin().cos(), "composed"), (ROWS,), ("meta",)),
]
