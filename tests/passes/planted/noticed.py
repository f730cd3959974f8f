"""Faults that `check_pass` has always detected, except those in `tests/passes/wrong.py`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from tests.passes.planted import models
from tests.passes.planted.missed import IMAGES, ROWS, VECTOR, calls_a_function, edits_a_branch
from tests.passes.planted.plant import Plant, behind, calls, done, erase, layers_of, rows

Run = Callable[[fx.GraphModule], PassResult]


def edit(name: str, change: Callable[[fx.GraphModule], Any]) -> Run:
    """A pass that makes one edit in its first run, and none after that."""

    def run(module: fx.GraphModule) -> PassResult:
        if module.meta.get("edited"):
            return PassResult(module, False)
        change(module)
        module.meta["edited"] = True
        return done(module)

    run.__name__ = name
    return run


def loses(key: str, *targets: Any) -> Run:
    """A pass that forgets a keyword argument."""

    def change(module: fx.GraphModule) -> None:
        for node in calls(module, *targets):
            node.kwargs = {name: value for name, value in node.kwargs.items() if name != key}

    return edit(f"loses_{key}", change)


def appends(name: str, *methods: tuple[str, tuple[Any, ...]]) -> Run:
    """A pass that appends method calls to the result."""

    def change(module: fx.GraphModule) -> None:
        for method, args in methods:
            last = module.graph.output_node().args[0]
            behind(last, lambda graph, last=last, method=method, args=args: graph.call_method(method, (last, *args)))

    return edit(name, change)


def returns(name: str, change: Callable[[Any], Any]) -> Run:
    """A pass that changes the container of the results."""
    return edit(name, lambda module: setattr(module.graph.output_node(), "args", (change(_results(module)),)))


def _results(module: fx.GraphModule) -> Any:
    return module.graph.output_node().args[0]


def _swap(module: fx.GraphModule) -> None:
    first, second = calls(module, torch.rand_like)
    first.replace_all_uses_with(second, delete_user_cb=lambda user: user.target is not None and "sub" in user.name)
    second_users = [user for user in second.users if "mul" in user.name]
    for user in second_users:
        user.replace_input_with(second, first)
    [sub] = [node for node in module.graph.nodes if node.name == "sub"]
    mul = sub.args[1]
    sub.args, mul.args = (second, mul), (first, 2)


def _wrong_user(module: fx.GraphModule) -> None:
    [last] = [node for node in module.graph.nodes if node.name == "add"]
    last.args = (last.args[1], last.args[1])


def _no_longer_writes(target: str) -> Run:
    def change(module: fx.GraphModule) -> None:
        for node in calls(module, target):
            node.target = target.rstrip("_")

    return edit(f"no_longer_{target}", change)


def _copies_a_shared_layer(module: fx.GraphModule) -> None:
    module.second = copy.deepcopy(module.first)
    [node for node in module.graph.nodes if node.op == "call_module"][-1].target = "second"


def _unties(module: fx.GraphModule) -> None:
    new = copy.copy(module.second)
    new._parameters = dict(new._parameters, weight=nn.Parameter(new.weight.detach().clone()))
    module.second = new


def _drops_hooks(module: fx.GraphModule) -> None:
    module.act._forward_hooks.clear()


def _no_default(module: fx.GraphModule) -> None:
    for node in module.graph.find_nodes(op="placeholder"):
        node.args = ()


def _plain_codegen(module: fx.GraphModule) -> None:
    module.graph.set_codegen(fx.graph.CodeGen())


def _norms_in_eval(module: fx.GraphModule) -> None:
    for _, norm in layers_of(module, nn.BatchNorm2d):
        norm.eval()


def _dropouts_off(module: fx.GraphModule) -> None:
    for node in calls(module, torch.nn.functional.dropout):
        node.args, node.kwargs = node.args[:1], {"p": 0.5, "training": False}


def _shares_sin(module: fx.GraphModule) -> None:
    first, second = calls(module, "sin")
    second.replace_all_uses_with(first)
    module.graph.erase_node(second)


def _loses_val(module: fx.GraphModule) -> None:
    for node in calls(module, torch.ops.aten.linear.default):
        del node.meta["val"]


def _returns_the_buffer(module: fx.GraphModule) -> None:
    for node in calls(module, "clone"):
        erase(node)


NOTICED = [
    Plant(loses("dim", "softmax", torch.softmax), models.scaled, ROWS, ("values",)),
    Plant(loses("approximate", torch.nn.functional.gelu, torch._C._nn.gelu), models.scaled, ROWS, ("values",)),
    Plant(appends("to_float64", ("to", (torch.float64,))), models.layers, ROWS, ("values",)),
    Plant(appends("to_int32", ("to", (torch.int32,))), models.layers, ROWS, ("values",)),
    Plant(
        appends("through_bfloat16", ("to", (torch.bfloat16,)), ("to", (torch.float32,))),
        models.layers,
        ROWS,
        ("values",),
    ),
    Plant(edit("replaces_the_wrong_user", _wrong_user), models.added, (rows(3), rows(3) + 1), ("values",)),
    Plant(_no_longer_writes("mul_"), models.buffered, ROWS, ("values",)),
    Plant(_no_longer_writes("add_"), models.buffered, ROWS, ("values",)),
    Plant(edit("returns_the_buffer", _returns_the_buffer), models.buffered, ROWS, ("aliasing",)),
    Plant(edit("shares_two_results", _shares_sin), models.in_tuple, VECTOR, ("aliasing",)),
    Plant(edit("loses_val", _loses_val), models.exported_layers, ROWS, ("meta",), advised=True),
    Plant(edit("swaps_random_calls", _swap), models.drawing, VECTOR, ("values",)),
    Plant(returns("returns_an_element", lambda results: results[0]), models.in_tuple, VECTOR, ("values",)),
    Plant(returns("returns_a_list", list), models.in_tuple, VECTOR, ("values",)),
    Plant(
        returns("returns_keys_in_order", lambda results: dict(sorted(results.items()))),
        models.in_dict,
        VECTOR,
        ("values",),
    ),
    Plant(edit("loses_a_default", _no_default), models.with_default, VECTOR, ("inputs_kept",)),
    Plant(calls_a_function, models.hooked, ROWS, ("values",)),
    Plant(edit("drops_hooks", _drops_hooks), models.watched_layers, ROWS, ("purity", "effects")),
    Plant(edit("drops_dropout_in_training", _dropouts_off), models.functional_dropout, ROWS, ("values",)),
    Plant(edit("norms_in_eval", _norms_in_eval), models.training_norm, IMAGES, ("values", "modes", "purity")),
    Plant(edit("goes_to_eval", lambda module: module.eval()), models.training_dropouts, ROWS, ("values", "modes")),
    Plant(edit("copies_a_shared_layer", _copies_a_shared_layer), models.shared, ROWS, ("state_kept", "gradients")),
    Plant(edit("unties_trained_weights", _unties), models.tied_and_trained, ROWS, ("state_kept", "gradients")),
    Plant(edit("loses_the_codegen", _plain_codegen), models.from_dict, ({"x": rows(3)},), ("values",)),
    Plant(edits_a_branch("true_graph_0"), models.branches, (torch.ones(3),), ("values",)),
    Plant(
        edit("leaves_deterministic", lambda _: torch.use_deterministic_algorithms(True)),
        models.layers,
        ROWS,
        ("purity",),
    ),
]
