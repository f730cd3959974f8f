"""Correct passes, on the models that expose planted faults: no fault may be reported for them."""

from __future__ import annotations

import copy

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from tests.passes.planted import models
from tests.passes.planted.folding import folds
from tests.passes.planted.missed import IMAGES, ROWS, VECTOR
from tests.passes.planted.plant import Plant, calls, done, erase, layers_of, rows


def shares_equal_calls(module: fx.GraphModule) -> PassResult:
    """Correct for pure functions if at most one of the equal results is returned."""
    known: dict[str, fx.Node] = {}
    merged = 0
    for node in list(module.graph.nodes):
        if node.op in ("call_function", "call_method") and node.users and not node.is_impure():
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
    """Correct, since it changes only models in eval mode."""
    found = calls(module, "first", "second") if not module.training else []
    for node in found:
        erase(node)
    module.delete_all_unused_submodules()
    return done(module, bool(found))


def drops_what_only_computes(module: fx.GraphModule) -> PassResult:
    """Correct, because the functions of this model write nothing."""
    return done(module, module.graph.eliminate_dead_code())


def calls_functions(module: fx.GraphModule) -> PassResult:
    """Correct for layers without weights or hooks."""
    found = [node for node, layer in layers_of(module, nn.ReLU) if not layer._forward_hooks]
    for node in found:
        with module.graph.inserting_before(node):
            new = module.graph.call_function(torch.relu, node.args)
        new.meta = dict(node.meta)
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
    return done(module, bool(found))


def copies_first(module: fx.GraphModule) -> PassResult:
    """Return a different module, in which all parameters are copies."""
    return relu_by_clamp(copy.deepcopy(module))


def halves_a_tied_weight(module: fx.GraphModule) -> PassResult:
    """Store the new parameter under both names of the old one."""
    if module.meta.get("halved"):
        return PassResult(module, False)
    module.meta["halved"] = True
    new = nn.Parameter(module.first.weight.detach() / 2, requires_grad=module.first.weight.requires_grad)
    for name in ("first", "second"):
        layer = copy.copy(getattr(module, name))
        layer._parameters = layer._parameters | {"weight": new}
        setattr(module, name, layer)
        [node] = calls(module, name)
        with module.graph.inserting_before(node):
            doubled = module.graph.call_method("mul", (node.args[0], 2))
        doubled.meta = dict(node.meta)
        node.args = (doubled,)
    return done(module)


def folds_equal_assertions(module: fx.GraphModule) -> PassResult:
    """Correct, because one of two equal assertions is enough."""
    others = calls(module, torch._assert)[1:]
    for node in others:
        module.graph.erase_node(node)
    return done(module, module.graph.eliminate_dead_code() or bool(others))


def clamps_in_aten(module: fx.GraphModule) -> PassResult:
    found = calls(module, torch.ops.aten.relu.default)
    for node in found:
        node.target, node.args = torch.ops.aten.clamp_min.default, (node.args[0], 0)
    return done(module, bool(found))


def clamps_in_a_branch(module: fx.GraphModule) -> PassResult:
    changed = clamps_in_aten(module.true_graph_0).modified
    return PassResult(module, changed)


def nothing(module: fx.GraphModule) -> PassResult:
    return PassResult(module, False)


ALL_MODELS = [
    (models.conv_norm, IMAGES),
    (models.exported_norm, IMAGES),
    (models.training_norm, IMAGES),
    *((model, ROWS) for model in (models.dropouts, models.training_dropouts, models.layers, models.kept_root)),
    *((model, ROWS) for model in (models.watched_layers, models.tied, models.shared, models.normed, models.scaled)),
    *((model, ROWS) for model in (models.sized, models.buffered, models.functional_dropout)),
    *((model, VECTOR) for model in (models.asserted, models.noted, models.in_dataclass, models.in_object)),
    *((model, VECTOR) for model in (models.sparse, models.spectrum, models.quantised, models.attached)),
    (models.asserted_scalar, (torch.ones(3),)),
    (models.branches, (torch.ones(3),)),
    (models.with_lines, (rows(3), rows(3))),
    (models.from_dict, ({"x": rows(3)},)),
]
RIGHT = [
    Plant(folds(), models.conv_norm, IMAGES),
    Plant(drops_dropouts, models.dropouts, ROWS),
    Plant(shares_equal_calls, models.repeated, ROWS),
    Plant(drops_what_only_computes, models.repeated, ROWS),
    Plant(calls_functions, models.layers, ROWS),
    Plant(copies_first, models.sized, ROWS),
    Plant(halves_a_tied_weight, models.tied, ROWS),
    Plant(folds_equal_assertions, models.asserted_twice, VECTOR),
    Plant(clamps_in_aten, models.exported_norm, IMAGES),
    Plant(clamps_in_a_branch, models.branches, (torch.ones(3),)),
    *(
        Plant(relu_by_clamp, model, VECTOR)
        for model in (models.asserted, models.noted, models.in_dataclass, models.in_object, models.sparse)
    ),
    *(Plant(relu_by_clamp, model, VECTOR) for model in (models.spectrum, models.quantised)),
    *(Plant(nothing, *model) for model in ALL_MODELS),
]
