"""Traced models with layers that do nothing, and a function that runs the pass twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.running import differing_trimming, trimmings

from ..cases import WIDTH, gpt2, graph_of, resnet


class Idle(nn.Module):
    """Layers that do nothing: two in a row, one called twice, one called by keyword, one at the end, and one without
    users; and another call without users. An input has a default, and a weight requires a gradient.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = nn.Identity(), nn.Identity(), nn.Identity()
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.inner = nn.Sequential(nn.Tanh(), nn.Identity())
        self.mix.bias.requires_grad_(False)

    def forward(self, x: Tensor, gain: float = 2.0) -> tuple[Tensor, Tensor]:
        skip = self.first(x)
        hidden = self.second(self.first(self.mix(skip)))
        self.last(hidden)
        self.mix(hidden)
        total = self.inner(hidden) * gain + self.second(input=skip)
        return self.last(total), total


class Identity(nn.Tanh):
    """A different layer with the name of ``nn.Identity``; the tracer takes it for a torch layer and makes it a leaf."""

    __module__ = "torch.nn.another"


class Kept(nn.Module):
    """Calls the other layer named ``Identity``. An ``nn.Identity`` that nothing calls is added after tracing."""

    def __init__(self) -> None:
        super().__init__()
        self.other, self.mix = Identity(), nn.Linear(WIDTH, WIDTH)
        self.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.other(self.mix(x))


class Single(nn.Module):
    """One ``nn.Identity``, called once, whose result is unused."""

    def __init__(self) -> None:
        super().__init__()
        self.idle, self.mix = nn.Identity(), nn.Linear(WIDTH, WIDTH)
        self.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        mixed = self.mix(x)
        self.idle(mixed)
        return mixed.relu()


def by_another_name(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: the traced model, which calls ``nn.Identity`` by another name, and an input."""
    module = graph_of(model)
    module.add_submodule("same", module.get_submodule("idle"))
    [call] = module.graph.find_nodes(op="call_module", target="idle")
    call.target = "same"
    module.recompile()
    return module, torch.randn(2, 3, WIDTH)


def kept_as_submodule(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: the traced model with a layer that nothing calls, and an input."""
    module = graph_of(model)
    module.add_submodule("idle", nn.Identity())
    return module, torch.randn(2, 3, WIDTH)


def traced_with(*shape: int) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: the traced model, and an input with a random number of rows."""
    return lambda model: (graph_of(model), torch.randn(one_of(2, 3, 4), *shape))


def with_notes(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: the traced model, with a note in the ``meta`` of each node, and an input."""
    module = graph_of(model)
    for place, node in enumerate(module.graph.nodes):
        node.meta["why"] = f"step {place}"
    return module, torch.randn(one_of(2, 3, 4), 3, WIDTH)


def idle_calls(module: fx.GraphModule) -> list[str]:
    """The names of the nodes that call an ``nn.Identity``."""
    calls = module.graph.find_nodes(op="call_module")
    return [node.name for node in calls if isinstance(module.get_submodule(node.target), nn.Identity)]


def layers_of(module: fx.GraphModule) -> dict[str, nn.Module]:
    """All layers, called or not, by name."""
    return {name: layer for name, layer in module.named_modules(remove_duplicate=False) if name}


def _facts(result: Any, module: fx.GraphModule) -> dict[str, Any]:
    """Facts about what the pass returned for the module."""
    if not isinstance(result, PassResult):
        return {"kind": type(result).__name__}
    return {"kind": "PassResult", "same": result.graph_module is module, "modified": result.modified}


def run_twice(answer: Callable[..., Any], module: fx.GraphModule, x: Tensor) -> dict[str, Any]:
    """What the pass returns, what the module then contains and computes, and what a second run of the pass returns.

    Raises:
        Exception: whatever the answer raises.
    """
    before, look = layers_of(module), trimmings(module.graph)
    facts: dict[str, Any] = {"first": _facts(answer(module), module), "left": idle_calls(module)}
    left = layers_of(module)
    facts["deleted"] = [name for name in before if name not in left]
    facts["replaced"] = [name for name in before if name in left and left[name] is not before[name]]
    try:
        module.graph.lint()
    except Exception as error:
        return {**facts, "lint": str(error).splitlines()[0]}
    facts["stale"] = module.code != module.graph.python_code("self").src
    facts["nodes"] = [node.name for node in module.graph.nodes]
    if other := differing_trimming(look, module.graph):
        return {**facts, "other": other}
    facts["outputs"] = module(x)
    facts["second"] = _facts(answer(module), module)
    return facts


USAGE = Usage(
    "compute",
    cases=(
        Case("a block of GPT-2 without an identity", gpt2, tuple, given=traced_with(3, WIDTH)),
        Case("a block of ResNet", resnet, tuple, given=traced_with(16, 8, 8)),
        Case("identities in a row, by keyword, unused and at the end", Idle, tuple, True, with_notes),
        Case("an identity whose result is unused", Single, tuple, unseen=True, given=traced_with(3, WIDTH)),
        Case("a layer called by its second name", Single, tuple, unseen=True, given=by_another_name),
        Case("a layer that nothing calls", Kept, tuple, unseen=True, given=kept_as_submodule),
    ),
    call=run_twice,
)
