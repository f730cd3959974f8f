"""Passes like those that people write, each of them wrong in one way."""

from __future__ import annotations

import itertools
import operator
import random

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult


def nodes_that_call(module: fx.GraphModule, *targets: object) -> list[fx.Node]:
    return [node for node in module.graph.nodes if node.op == "call_function" and node.target in targets]


def done(module: fx.GraphModule, modified: bool) -> PassResult:
    module.graph.lint()
    module.recompile()
    return PassResult(module, modified)


def like(new: fx.Node, old: fx.Node) -> fx.Node:
    new.meta = dict(old.meta)
    return new


def nothing(module: fx.GraphModule) -> PassResult:
    """Right: changes nothing."""
    return PassResult(module, False)


def relu_by_clamp(module: fx.GraphModule) -> PassResult:
    """Right for every value: a clamp from below differs from relu only in the gradient at zero."""
    found = nodes_that_call(module, torch.relu)
    for node in found:
        with module.graph.inserting_before(node):
            (x,) = node.all_input_nodes
            clamped = like(module.graph.call_function(torch.clamp_min, (x, 0)), node)
        node.replace_all_uses_with(clamped)
        module.graph.erase_node(node)
    return done(module, bool(found))


def puts_a_node_before_what_it_reads(module: fx.GraphModule) -> PassResult:
    found = nodes_that_call(module, torch.relu)
    for node in found:
        next(iter(module.graph.nodes)).prepend(node)
    module.recompile()
    return PassResult(module, bool(found))


def forgets_recompile(module: fx.GraphModule) -> PassResult:
    found = nodes_that_call(module, torch.relu)
    for node in found:
        node.target = torch.clamp_min
        node.args, node.kwargs = (node.all_input_nodes[0], 0), {}
    return PassResult(module, bool(found))


def forgets_alpha(module: fx.GraphModule) -> PassResult:
    """Wrong: ``torch.add`` has a third argument."""
    found = nodes_that_call(module, torch.add)
    for node in found:
        other = node.kwargs.get("other", node.args[1] if len(node.args) > 1 else None)
        node.target, node.args, node.kwargs = operator.add, (node.kwargs.get("input", *node.args[:1]), other), {}
    return done(module, bool(found))


def merges_equal_calls(module: fx.GraphModule) -> PassResult:
    """Wrong: something may write to the argument between two equal calls."""
    known: dict[str, fx.Node] = {}
    merged = 0
    for node in list(module.graph.nodes):
        if node.op == "call_function" and not node.name.startswith(("iadd", "imul", "relu_")):
            twin = known.setdefault(repr((node.target, node.args, node.kwargs)), node)
            if twin is not node:
                node.replace_all_uses_with(twin)
                module.graph.erase_node(node)
                merged += 1
    return done(module, merged > 0)


def drops_what_nobody_reads(module: fx.GraphModule) -> PassResult:
    """Wrong: an in-place operation is called for its side effect."""
    return done(module, module.graph.eliminate_dead_code())


def drops_clones(module: fx.GraphModule) -> PassResult:
    """Wrong: the module returned a separate tensor."""
    found = [node for node in module.graph.nodes if node.target in ("clone", torch.clone)]
    for node in found:
        node.replace_all_uses_with(node.all_input_nodes[0])
        module.graph.erase_node(node)
    return done(module, bool(found))


def folds_sizes(module: fx.GraphModule) -> PassResult:
    """Wrong: writes the observed size into the graph."""
    found = [node for node in module.graph.nodes if node.op == "call_method" and node.target == "size"]
    for node in found:
        rows = node.args[0].meta["tensor_meta"].shape[0]
        for user in list(node.users):
            user.args = fx.node.map_arg(user.args, lambda arg, node=node, rows=rows: rows if arg is node else arg)
        module.graph.erase_node(node)
    return done(module, bool(found))


def detaches(module: fx.GraphModule) -> PassResult:
    found = [node for node in nodes_that_call(module, torch.tanh) if "detached" not in node.meta]
    for node in found:
        with module.graph.inserting_after(node):
            cut = like(module.graph.call_method("detach", (node,)), node)
        node.replace_all_uses_with(cut, delete_user_cb=lambda user, cut=cut: user is not cut)
        node.meta["detached"] = True
    return done(module, bool(found))


def halves_weights_in_place(module: fx.GraphModule) -> PassResult:
    """Wrong: the model shares the weight. The result does not change, because the input is doubled."""
    found = [
        node
        for node in module.graph.nodes
        if node.op == "call_module"
        and isinstance(layer := module.get_submodule(node.target), nn.Linear)
        and not layer.weight.detach().eq(0.5).all()
    ]
    for node in found[:1]:
        module.get_submodule(node.target).weight.data.mul_(1.0).add_(0.0).mul_(0.5)
    return done(module, bool(found))


def switches_gradients_off(module: fx.GraphModule) -> PassResult:
    torch.set_grad_enabled(False)
    return PassResult(module, False)


def draws_a_number(module: fx.GraphModule) -> PassResult:
    torch.rand(1)
    return PassResult(module, False)


def puts_another_weight_into_a_shared_module(module: fx.GraphModule) -> PassResult:
    for node in module.graph.nodes:
        if node.op == "call_module" and isinstance(layer := module.get_submodule(node.target), nn.Linear):
            layer.weight = nn.Parameter(layer.weight.detach().clone())
    return PassResult(module, False)


def leaves_the_old_node(module: fx.GraphModule) -> PassResult:
    found = [node for node in nodes_that_call(module, torch.relu) if node.users]
    for node in found:
        with module.graph.inserting_before(node):
            clamped = module.graph.call_function(torch.clamp_min, (node.all_input_nodes[0], 0))
        node.replace_all_uses_with(like(clamped, node))
    return done(module, bool(found))


def forgets_meta(module: fx.GraphModule) -> PassResult:
    found = nodes_that_call(module, torch.relu)
    for node in found:
        with module.graph.inserting_before(node):
            node.replace_all_uses_with(module.graph.call_function(torch.clamp_min, (node.all_input_nodes[0], 0)))
        module.graph.erase_node(node)
    return done(module, bool(found))


def tells_a_wrong_shape(module: fx.GraphModule) -> PassResult:
    """Wrong: the value does not have the shape in its meta, which is copied from another node."""
    found = nodes_that_call(module, torch.tanh)
    for node in found:
        with module.graph.inserting_after(node):
            flat = like(module.graph.call_method("unsqueeze", (node, 0)), node)
        with module.graph.inserting_after(flat):
            back = like(module.graph.call_method("squeeze", (flat, 0)), node)
        node.replace_all_uses_with(back, delete_user_cb=lambda user, flat=flat: user is not flat)
    return done(module, bool(found))


def renames_inputs(module: fx.GraphModule) -> PassResult:
    for number, node in enumerate(node for node in module.graph.nodes if node.op == "placeholder"):
        node.target = node.name = f"arg_{number}"
    return done(module, True)


def renames_layers(module: fx.GraphModule) -> PassResult:
    found = [node for node in module.graph.nodes if node.op == "call_module" and not node.target.startswith("layer_")]
    for number, node in enumerate(found):
        module.add_submodule(f"layer_{number}", module.get_submodule(node.target))
        node.target = f"layer_{number}"
    module.delete_all_unused_submodules()
    return done(module, bool(found))


def trains(module: fx.GraphModule) -> PassResult:
    return PassResult(module.train(), False)


def freezes(module: fx.GraphModule) -> PassResult:
    """Wrong: the new parameters do not require gradients."""
    for node in module.graph.nodes:
        if node.op == "get_attr" and isinstance(held := getattr(module, node.target, None), nn.Parameter):
            setattr(module, node.target, nn.Parameter(held.detach().clone(), requires_grad=False))
    return PassResult(module, False)


def always_says_that_it_changed(module: fx.GraphModule) -> PassResult:
    return done(module, True)


def never_says_that_it_changed(module: fx.GraphModule) -> PassResult:
    return done(relu_by_clamp(module).graph_module, False)


def adds_zero_each_time(module: fx.GraphModule) -> PassResult:
    (output,) = (node for node in module.graph.nodes if node.op == "output")
    x = next(iter(module.graph.nodes))
    with module.graph.inserting_after(x):
        same = like(module.graph.call_function(torch.add, (x, 0)), x)
    x.replace_all_uses_with(same, delete_user_cb=lambda user: user is not same)
    return done(module, bool(output))


_drawn = random.Random(0)
_counted = itertools.count()


def names_by_chance(module: fx.GraphModule) -> PassResult:
    found = nodes_that_call(module, torch.relu)
    for node in found:
        node.name = f"relu_number_{next(_counted)}_{_drawn.randrange(100)}"
    return done(module, bool(found))


def traces_again(module: fx.GraphModule) -> PassResult:
    return PassResult(fx.symbolic_trace(module), False)


def transforms(module: fx.GraphModule) -> PassResult:
    return PassResult(fx.Transformer(module).transform(), False)


def raises(module: fx.GraphModule) -> None:
    """Raises an error."""
    raise KeyError("no such layer")
