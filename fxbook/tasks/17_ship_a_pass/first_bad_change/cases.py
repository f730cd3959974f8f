"""Graphs with many dropouts, at most one of them active, and a pass that erases all dropouts.

Also layers, one of them with a bias, that are each followed by a factor, and a pass that moves factors into weights.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from fxbook.cases import Case, Usage
from fxbook.cases.running import listing

from ..cases import WIDTH, bert, change_of, gpt2, graph_of, rows

_RATE = 0.5
_LAYERS, _NARROW = 6, 4


class Mixed(nn.Module):
    """Many small operations in a row, after a layer that is active in training mode."""

    def __init__(self) -> None:
        super().__init__()
        self.mix, self.drop = nn.Linear(WIDTH, WIDTH), nn.Dropout(_RATE)
        self.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        total = self.drop(x)
        for step in range(5):
            total = torch.sigmoid(self.mix(total) + step) * x
        return total


class Scaled(nn.Module):
    """Layers that are each followed by a factor; one randomly chosen layer has a bias."""

    def __init__(self) -> None:
        super().__init__()
        which = _late(_LAYERS)
        layers = [nn.Linear(_NARROW, _NARROW, bias=number == which) for number in range(1, _LAYERS + 1)]
        self.layers = nn.ModuleList(layers).requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x) * 2
        return x


def drop_every_dropout(module: fx.GraphModule, *, at_most: int | None = None) -> PassResult:
    """Erase all dropouts, or only the first ``at_most``."""
    found = module.graph.find_nodes(op="call_function", target=nn.functional.dropout)[:at_most]
    for node in found:
        node.replace_all_uses_with(node.args[0])
        module.graph.erase_node(node)
    module.graph.lint()
    module.recompile()
    return PassResult(module, bool(found))


def double_the_weights(module: fx.GraphModule, *, at_most: int | None = None) -> PassResult:
    """Erase all multiplications, or only the first ``at_most``, and double the weights of the layers before them."""
    found = module.graph.find_nodes(op="call_function", target=operator.mul)[:at_most]
    for node in found:
        [call] = node.all_input_nodes
        module.get_submodule(call.target).weight.mul_(2)
        node.replace_all_uses_with(call)
        module.graph.erase_node(node)
    module.graph.lint()
    module.recompile()
    return PassResult(module, bool(found))


def add_dropouts(module: fx.GraphModule, inputs: tuple[Tensor, ...], on: Callable[[int], int]) -> int:
    """Put a dropout after each call that returns a tensor; return how many there are. ``on`` chooses the active one."""
    run = fx.Interpreter(module, garbage_collect_values=False)
    run.run(*inputs)
    places = [node for node, value in run.env.items() if node.op.startswith("call") and isinstance(value, Tensor)]
    which = on(len(places))
    for number, node in enumerate(places, start=1):
        with module.graph.inserting_after(node):
            setting = {"p": _RATE, "training": number == which, "inplace": False}
            new = module.graph.call_function(nn.functional.dropout, (node,), setting)
        node.replace_all_uses_with(new, delete_user_cb=lambda user, new=new: user is not new)
    module.recompile()
    return len(places)


def _late(count: int) -> int:
    """A random place in the second half, which takes too many calls to reach one by one."""
    return int(torch.randint(count // 2, count, ()))


def reported(on: Callable[[int], int], *widths: int) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: a module with dropouts, the pass, ``is_right``, and the number of changes."""

    def given(model: nn.Module) -> tuple[Any, ...]:
        module = graph_of(model)
        inputs = rows(*widths)()
        total = add_dropouts(module, inputs, on)
        return module, drop_every_dropout, computes_as(module, inputs), total

    return given


def with_factors(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer, for a pass that writes into weights."""
    module = graph_of(model)
    return module, double_the_weights, computes_as(module, rows(_NARROW)()), _LAYERS


def with_no_dropout(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer, for a pass that finds nothing to change."""
    module = graph_of(model)
    return module, drop_every_dropout, computes_as(module, rows(WIDTH)()), 0


def computes_as(module: fx.GraphModule, inputs: tuple[Tensor, ...]) -> Callable[[fx.GraphModule], bool]:
    """A function that says whether another module returns exactly what this module returns now."""

    def run(candidate: fx.GraphModule) -> Tensor:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)
            return candidate(*inputs)

    expected = run(module)

    def is_right(candidate: fx.GraphModule) -> bool:
        return torch.equal(run(candidate), expected)

    return is_right


def weight_that_differs(before: dict[str, Tensor], module: nn.Module) -> str | None:
    """The name of the first weight that has changed; ``None`` if none has."""
    after = module.state_dict()
    return next((name for name, old in before.items() if name not in after or not torch.equal(after[name], old)), None)


def counted(
    answer: Callable[..., Any],
    module: fx.GraphModule,
    run: Callable[..., Any],
    is_right: Callable[[fx.GraphModule], bool],
    total: int,
) -> dict[str, Any]:
    """What the answer returns, how often it called ``is_right``, and the first node and weight that it has changed.

    Raises:
        Exception: whatever the answer raises.
    """
    calls = 0

    def counting(candidate: fx.GraphModule) -> bool:
        nonlocal calls
        calls += 1
        # Since ``is_right`` gets a copy, it cannot change the answer's module.
        return is_right(copy.deepcopy(candidate))

    before, weights = listing(module.graph), copy.deepcopy(module.state_dict())
    returned = answer(module, run, counting, total)
    changed, weight = change_of(before, listing(module.graph)), weight_that_differs(weights, module)
    return {"returned": returned, "calls": calls, "changed": changed, "weight": weight}


USAGE = Usage(
    "compute",
    cases=(
        Case("a block of GPT-2", gpt2, tuple, given=reported(_late, WIDTH)),
        Case("a block of BERT with no active dropout", bert, tuple, given=reported(lambda count: 0, 64, WIDTH)),
        Case("many operations", Mixed, tuple, unseen=True, given=reported(_late, WIDTH)),
        Case("the last change", Mixed, tuple, unseen=True, given=reported(lambda count: count, WIDTH)),
        Case("changes that write into weights", Scaled, tuple, unseen=True, given=with_factors),
        Case("the first change", gpt2, tuple, unseen=True, given=reported(lambda count: 1, WIDTH)),
        Case("nothing to change", Mixed, tuple, unseen=True, given=with_no_dropout),
    ),
    call=counted,
)
