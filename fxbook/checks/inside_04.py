"""What the exercises of chapter 04 are given of modules that stand inside others, traced or not, stale or not."""

from __future__ import annotations

from torch import fx, nn

from fxbook.checks.edits_04 import insert_neg
from fxbook.checks.models_04 import FeedForward, Wrapped


def block() -> fx.GraphModule:
    return fx.symbolic_trace(FeedForward())


def in_a_row(**blocks: nn.Module) -> fx.GraphModule:
    """A traced module that calls one block after another; making it compiles the blocks that are traced."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for name in blocks:
        value = graph.call_module(name, (value,))
    graph.output(value)
    return fx.GraphModule(blocks, graph)


def all_stale(model: nn.Module) -> nn.Module:
    """The model, with an edit in each traced module in it, itself included, that is not compiled."""
    for module in model.modules():
        if isinstance(module, fx.GraphModule):
            insert_neg(module.graph)
    return model


def beside_a_sequential() -> nn.Module:
    """The module of the chapter."""
    return all_stale(in_a_row(near=block(), blocks=nn.Sequential(block())))


def under_a_plain_root() -> nn.Module:
    """The root is no ``GraphModule``, and what it holds stands beside each other and deeper."""
    return all_stale(nn.Sequential(Wrapped(block()), block(), nn.Linear(4, 4)))


def several_levels() -> nn.Module:
    """A plain module between two traced ones, twice."""
    return all_stale(in_a_row(outer=Wrapped(in_a_row(inner=Wrapped(block()), last=nn.Tanh()))))


def with_a_stale_child(model: nn.Module) -> tuple[fx.GraphModule]:
    """A module that is up to date, and calls one that is not."""
    whole = in_a_row(near=fx.symbolic_trace(model))
    all_stale(whole.near)
    return (whole,)


def stale_around_a_child(model: nn.Module) -> tuple[fx.GraphModule]:
    """A module that is not up to date, and calls one that is."""
    whole = in_a_row(near=fx.symbolic_trace(model))
    insert_neg(whole.graph)
    return (whole,)
