"""Faults of the kind that people make, which `check_pass` did not detect at first."""

from __future__ import annotations

import copy
import random

import numpy as np
import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult
from torch.nn import functional

from tests.passes.planted import models
from tests.passes.planted.folding import FORGOTTEN, leaves_the_norm_out
from tests.passes.planted.plant import Plant, behind, calls, done, erase, layers_of, rows

# ---- results ---------------------------------------------------------------------------------------------------------


def returns_another_order(module: fx.GraphModule) -> PassResult:
    """Wrong: the values are right, but their memory layout makes the caller's `.view` raise an error."""
    [last] = calls(module, "softmax", torch.softmax)
    if last.args[0].target == "t":
        return PassResult(module, False)
    with module.graph.inserting_before(last):
        turned = module.graph.call_method("t", (last.args[0],))
    last.args, last.kwargs = (turned,), {"dim": 1}
    behind(last, lambda graph: graph.call_method("t", (last,)))
    return done(module)


def returns_channels_last(module: fx.GraphModule) -> PassResult:
    [last] = calls(module, "relu")
    if "turned" in last.meta:
        return PassResult(module, False)
    last.meta["turned"] = True
    behind(last, lambda graph: graph.call_method("contiguous", (last,), {"memory_format": torch.channels_last}))
    return done(module)


def writes_a_size(module: fx.GraphModule) -> PassResult:
    found = calls(module, "size")
    for node in found:
        for user in list(node.users):
            user.args = fx.node.map_arg(user.args, lambda one, node=node: 3 if one is node else one)
        module.graph.erase_node(node)
    return done(module, bool(found))


def cuts_what_asks_for_gradients(module: fx.GraphModule) -> PassResult:
    found = calls(module, "requires_grad_")
    for node in found:
        erase(node)
    return done(module, bool(found))


def relu_to_tanh(module: fx.GraphModule) -> PassResult:
    found = calls(module, "relu")
    for node in found:
        node.target = "tanh"
    return done(module, bool(found))


def conjugates(module: fx.GraphModule) -> PassResult:
    [node] = calls(module, torch.fft.fft)
    if "conjugated" in node.meta:
        return PassResult(module, False)
    node.meta["conjugated"] = True
    behind(node, lambda graph: graph.call_function(torch.conj, (node,)))
    return done(module)


def drops_a_call(module: fx.GraphModule) -> PassResult:
    """Wrong for values that the inputs do not contain."""
    found = calls(module, "abs", "clamp")
    for node in found:
        erase(node)
    return done(module, bool(found))


def loses_nan(module: fx.GraphModule) -> PassResult:
    found = calls(module, "relu")
    for node in found:
        with module.graph.inserting_before(node):
            positive = module.graph.call_method("gt", (node.args[0], 0))
            new = module.graph.call_function(torch.where, (positive, node.args[0], 0.0))
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
    return done(module, bool(found))


# ---- errors and side effects of a module -----------------------------------------------------------------------------


def drops_assertions(module: fx.GraphModule) -> PassResult:
    found = calls(module, torch._assert, torch.ops.aten._assert_scalar.default)
    for node in found:
        module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    return done(module, bool(found))


def weakens_assertions(module: fx.GraphModule) -> PassResult:
    found = [node for node in calls(module, torch._assert) if node.args[0] is not True]
    for node in found:
        node.args = (True, *node.args[1:])
    module.graph.eliminate_dead_code()
    return done(module, bool(found))


def drops_what_nobody_reads(module: fx.GraphModule) -> PassResult:
    """Wrong: torch.fx does not know that the call has a side effect."""
    return done(module, module.graph.eliminate_dead_code())


def calls_a_function(module: fx.GraphModule) -> PassResult:
    """Wrong: the layer's hooks no longer run."""
    found = list(layers_of(module, nn.ReLU))
    for node, _ in found:
        with module.graph.inserting_before(node):
            node.replace_all_uses_with(module.graph.call_function(torch.relu, node.args))
        module.graph.erase_node(node)
    module.delete_all_unused_submodules()
    return done(module, bool(found))


def puts_another_layer(module: fx.GraphModule) -> PassResult:
    module.set_submodule("act", nn.ReLU())
    return PassResult(module, False)


def drops_hooks_of_saving(module: fx.GraphModule) -> PassResult:
    module._state_dict_hooks.clear()
    return PassResult(module, False)


def makes_a_new_root(module: fx.GraphModule) -> PassResult:
    """Wrong: the root's hooks and attributes are lost."""
    return PassResult(fx.GraphModule(module, module.graph), False)


def copies_the_root(module: fx.GraphModule) -> PassResult:
    """Wrong: `copy.deepcopy` of the module loses them, too."""
    return PassResult(copy.deepcopy(module), False)


# ---- state -----------------------------------------------------------------------------------------------------------


def makes_a_buffer(module: fx.GraphModule) -> PassResult:
    if "weight" not in module.first._parameters:
        return PassResult(module, False)
    new = copy.deepcopy(module.first)
    new.register_buffer("weight", new._parameters.pop("weight").detach().clone())
    module.first = new
    return PassResult(module, True)


def reorders_parameters(module: fx.GraphModule) -> PassResult:
    if next(iter(module.first._parameters)) == "bias":
        return PassResult(module, False)
    new = copy.copy(module.first)
    new._parameters = dict(reversed(module.first._parameters.items()))
    module.first = new
    return PassResult(module, True)


def copies_a_parameter(module: fx.GraphModule) -> PassResult:
    new = copy.copy(module.first)
    new._parameters = dict(new._parameters)
    new.weight = nn.Parameter(new.weight.detach().clone())
    module.first = new
    return PassResult(module, False)


def unties(module: fx.GraphModule) -> PassResult:
    if module.first.weight is not module.second.weight:
        return PassResult(module, False)
    new = copy.copy(module.second)
    new._parameters = dict(new._parameters)
    new.weight = nn.Parameter(new.weight.detach().clone(), requires_grad=False)
    module.second = new
    return PassResult(module, True)


# ---- the other mode --------------------------------------------------------------------------------------------------


def norms_as_in_eval(module: fx.GraphModule) -> PassResult:
    found = list(layers_of(module, nn.BatchNorm2d))
    for node, norm in found:
        held = []
        with module.graph.inserting_before(node):
            for name in ("running_mean", "running_var", "weight", "bias"):
                held.append(module.graph.get_attr(f"{node.target}.{name}"))
            new = module.graph.call_function(functional.batch_norm, (*node.args, *held, False, norm.momentum, norm.eps))
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
    return done(module, bool(found))


def swaps_dropouts(module: fx.GraphModule) -> PassResult:
    first, second = calls(module, "first", "second")
    if "swapped" not in first.meta:
        first.target, second.target = second.target, first.target
        first.meta["swapped"] = True
        return done(module)
    return PassResult(module, False)


# ---- the process -----------------------------------------------------------------------------------------------------


def _leaves(name: str, leave: object) -> object:
    def run(module: fx.GraphModule) -> PassResult:
        leave()
        return PassResult(module, False)

    run.__name__ = f"leaves_{name}"
    return run


def _flip(home: object, name: str) -> object:
    return lambda: setattr(home, name, not getattr(home, name))


def _patch() -> None:
    forward = nn.ReLU.forward
    nn.ReLU.forward = lambda self, x: forward(self, x)


def _dynamo() -> None:
    import torch._dynamo.config

    torch._dynamo.config.suppress_errors = True


LEFT_BEHIND = [
    _leaves(name, leave)
    for name, leave in {
        "matmul_precision": lambda: torch.set_float32_matmul_precision("medium"),
        "mkldnn_flags": lambda: torch._C._set_mkldnn_enabled(False),
        "flush_denormal": lambda: torch.set_flush_denormal(True),
        "cudnn_benchmark": _flip(torch.backends.cudnn, "benchmark"),
        "dynamo_config": _dynamo,
        "python_random": random.random,
        "numpy_random": np.random.rand,
        "a_patched_layer": _patch,
    }.items()
]


# ---- meta and inner graphs -------------------------------------------------------------------------------------------


def tells_another_line(module: fx.GraphModule) -> PassResult:
    for node in module.graph.nodes:
        node.meta["stack_trace"] = 'File "pass.py", line 1, in run'
    return PassResult(module, False)


def edits_a_branch(name: str) -> object:
    def run(module: fx.GraphModule) -> PassResult:
        inside = getattr(module, name)
        found = calls(inside, torch.ops.aten.sin.default, torch.ops.aten.cos.default)
        for node in found:
            node.target = torch.ops.aten.tan.default
        inside.recompile()
        return PassResult(module, bool(found))

    run.__name__ = f"edits_{name}"
    return run


IMAGES, ROWS, VECTOR = (rows(2, 3, 8, 8),), (rows(3, 4),), (rows(4).abs(),)
MISSED = [
    *(Plant(run, models.conv_norm, IMAGES, ("values",)) for run in (*FORGOTTEN, leaves_the_norm_out)),
    Plant(returns_another_order, models.scaled, ROWS, ("values",)),
    Plant(returns_channels_last, models.conv_norm, IMAGES, ("values",)),
    Plant(drops_assertions, models.asserted, VECTOR, ("effects",)),
    Plant(weakens_assertions, models.asserted, VECTOR, ("effects",)),
    Plant(drops_assertions, models.asserted_scalar, (torch.ones(3),), ("effects",)),
    Plant(writes_a_size, models.sized, ROWS, ("values_at_another_size",)),
    Plant(writes_a_size, models.counting, ROWS, ("values_at_another_size",)),
    Plant(makes_a_buffer, models.layers, ROWS, ("state_kept",)),
    Plant(reorders_parameters, models.layers, ROWS, ("state_kept",)),
    Plant(copies_a_parameter, models.layers, ROWS, ("state_kept",)),
    Plant(unties, models.tied, ROWS, ("state_kept",)),
    Plant(norms_as_in_eval, models.conv_norm, IMAGES, ("values_in_another_mode",), advised=True),
    Plant(swaps_dropouts, models.dropouts, ROWS, ("values_in_another_mode",)),
    Plant(drops_a_call, models.absolute, VECTOR, ("values_of_other_numbers",)),
    Plant(drops_a_call, models.clamped, VECTOR, ("values_of_other_numbers",), advised=True),
    Plant(loses_nan, models.clamped, VECTOR, ("values_of_other_numbers",), advised=True),
    Plant(drops_hooks_of_saving, models.saved_otherwise, ROWS, ("effects",)),
    Plant(calls_a_function, models.watched_layers, ROWS, ("effects",)),
    Plant(puts_another_layer, models.watched_layers, ROWS, ("effects",)),
    Plant(makes_a_new_root, models.kept_root, ROWS, ("effects", "state_kept")),
    Plant(copies_the_root, models.kept_root, ROWS, ("effects", "state_kept")),
    Plant(drops_what_nobody_reads, models.noted, VECTOR, ("effects",)),
    *(Plant(run, models.layers, ROWS, ("purity",)) for run in LEFT_BEHIND),
    Plant(tells_another_line, models.with_lines, (rows(3), rows(3)), ("meta",), advised=True),
    *(
        Plant(edits_a_branch(name), models.branches, (torch.ones(3),), ("values",))
        for name in ("true_graph_0", "false_graph_0")
    ),
    *(
        Plant(relu_to_tanh, model, VECTOR, ("values",))
        for model in (models.in_dataclass, models.in_object, models.sparse, models.quantised)
    ),
    Plant(relu_to_tanh, models.in_sealed, VECTOR, ("values",)),
    Plant(conjugates, models.spectrum, VECTOR, ("values",)),
    Plant(cuts_what_asks_for_gradients, models.attached, VECTOR, ("gradients",)),
]
