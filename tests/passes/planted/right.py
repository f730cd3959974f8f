"""Passes that are right, on the models in which faults are planted: no fault may be told of them."""

from __future__ import annotations

import torch
from torch import fx
from torch.fx.passes.infra.pass_base import PassResult

from tests.passes.planted import models
from tests.passes.planted.folding import folds
from tests.passes.planted.missed import IMAGES, ROWS, VECTOR
from tests.passes.planted.plant import Plant, calls, done, erase, rows


def shares_equal_calls(module: fx.GraphModule) -> PassResult:
    """Of functions that compute only: nothing in these models is written into."""
    known: dict[str, fx.Node] = {}
    merged = 0
    for node in list(module.graph.nodes):
        if node.op in ("call_function", "call_method") and node.users:
            twin = known.setdefault(repr((node.op, node.target, node.args, node.kwargs)), node)
            if twin is not node:
                node.replace_all_uses_with(twin)
                module.graph.erase_node(node)
                merged += 1
    return done(module, merged > 0)


def relu_by_clamp(module: fx.GraphModule) -> PassResult:
    found = calls(module, "relu")
    for node in found:
        node.target, node.args = "clamp_min", (node.args[0], 0)
    return done(module, bool(found))


def drops_dropouts(module: fx.GraphModule) -> PassResult:
    """Right for a model in eval mode alone."""
    found = calls(module, "first", "second") if not module.training else []
    for node in found:
        erase(node)
    module.delete_all_unused_submodules()
    return done(module, bool(found))


def nothing(module: fx.GraphModule) -> PassResult:
    return PassResult(module, False)


def relu_by_clamp_in_branches(module: fx.GraphModule) -> PassResult:
    found = calls(module.true_graph_0, torch.ops.aten.relu.default)
    for node in found:
        node.target, node.args = torch.ops.aten.clamp_min.default, (node.args[0], 0)
    module.true_graph_0.recompile()
    return PassResult(module, bool(found))


ALL_MODELS = [
    (models.conv_norm, IMAGES),
    (models.exported_norm, IMAGES),
    *((model, ROWS) for model in (models.dropouts, models.layers, models.watched_layers, models.kept_root)),
    *((model, ROWS) for model in (models.tied, models.normed, models.scaled, models.cloned, models.sized)),
    *((model, VECTOR) for model in (models.asserted, models.noted, models.in_dataclass, models.in_object)),
    *((model, VECTOR) for model in (models.sparse, models.spectrum, models.quantised, models.attached)),
    (models.asserted_scalar, (torch.ones(3),)),
    (models.branches, (torch.ones(3),)),
    (models.added, (rows(3), rows(3))),
    (models.told, (rows(3), rows(3))),
]
# What a fold cannot keep, and says in its documentation.
FOLDED = {"without": ["state_kept"]}
RIGHT = [
    Plant(folds(), models.conv_norm, IMAGES, asked=FOLDED),
    Plant(drops_dropouts, models.dropouts, ROWS),
    Plant(relu_by_clamp_in_branches, models.branches, (torch.ones(3),)),
    *(Plant(run, *told) for run in (nothing, shares_equal_calls, relu_by_clamp) for told in ALL_MODELS),
]
