"""Faults that `check_pass` has always detected, except those in `tests/passes/wrong.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from tests.passes.planted import models
from tests.passes.planted.missed import IMAGES, ROWS, VECTOR
from tests.passes.planted.plant import Plant, calls, done, layers_of, rows

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


def _wrong_user(module: fx.GraphModule) -> None:
    [last] = [node for node in module.graph.nodes if node.name == "add"]
    last.args = (last.args[1], last.args[1])


def _no_longer_multiplies_in_place(module: fx.GraphModule) -> None:
    for node in calls(module, "mul_"):
        node.target = "mul"


def _keys_in_order(module: fx.GraphModule) -> None:
    output = module.graph.output_node()
    output.args = (dict(sorted(output.args[0].items())),)


def _no_default(module: fx.GraphModule) -> None:
    for node in module.graph.find_nodes(op="placeholder"):
        node.args = ()


def _plain_codegen(module: fx.GraphModule) -> None:
    module.graph.set_codegen(fx.graph.CodeGen())


def _norms_in_eval(module: fx.GraphModule) -> None:
    for _, norm in layers_of(module, nn.BatchNorm2d):
        norm.eval()


def _shares_sin(module: fx.GraphModule) -> None:
    first, second = calls(module, "sin")
    second.replace_all_uses_with(first)
    module.graph.erase_node(second)


def _loses_val(module: fx.GraphModule) -> None:
    for node in calls(module, torch.ops.aten.linear.default):
        del node.meta["val"]


NOTICED = [
    Plant(edit("replaces_the_wrong_user", _wrong_user), models.added, (rows(3), rows(3) + 1), ("values",)),
    Plant(edit("no_longer_mul_", _no_longer_multiplies_in_place), models.buffered, ROWS, ("values",)),
    Plant(edit("shares_two_results", _shares_sin), models.in_tuple, VECTOR, ("aliasing",)),
    Plant(edit("loses_val", _loses_val), models.exported_layers, ROWS, ("meta",), advised=True),
    Plant(edit("returns_keys_in_order", _keys_in_order), models.in_dict, VECTOR, ("values",)),
    Plant(edit("loses_a_default", _no_default), models.with_default, VECTOR, ("inputs_kept",)),
    Plant(edit("norms_in_eval", _norms_in_eval), models.training_norm, IMAGES, ("values", "modes", "purity")),
    Plant(edit("loses_the_codegen", _plain_codegen), models.from_dict, ({"x": rows(3)},), ("values",)),
]
