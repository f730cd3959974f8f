"""Answers to 03-pool-as-module: each call of adaptive_avg_pool2d becomes a call of a module of its size."""

import copy

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

POOL = nn.functional.adaptive_avg_pool2d
OVERWRITES = "when_it_breaks/03_replacement#silent-add_submodule-has-replaced-a-layer-or-changed-the-model"


def pools(traced):
    return traced.graph.find_nodes(op="call_function", target=POOL)


def free_name(traced, wish):
    while hasattr(traced, wish):
        wish += "_"
    return wish


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def makes_one_module_for_each_size(traced):
    names = {}
    for node in pools(traced):
        value, size = node.args
        if size not in names:
            names[size] = free_name(traced, "squeeze")
            traced.add_submodule(names[size], nn.AdaptiveAvgPool2d(size))
        with traced.graph.inserting_after(node):
            new = traced.graph.call_module(names[size], (value,))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()


@right
def keeps_the_modules_in_a_list_and_cleans_up(traced):
    """A ModuleList of their own; the old nodes go as dead code; the data is passed by keyword."""
    name = free_name(traced, "pools")
    nodes = pools(traced)
    setattr(traced, name, nn.ModuleList(nn.AdaptiveAvgPool2d(node.args[1]) for node in nodes))
    for number, node in enumerate(nodes):
        with traced.graph.inserting_before(node):
            new = traced.graph.create_node("call_module", f"{name}.{number}", (), {"input": node.args[0]})
        node.replace_all_uses_with(new, propagate_meta=True)
    traced.graph.eliminate_dead_code()
    traced.recompile()


@right
def edits_a_copy_of_the_graph_and_assigns_it(traced):
    draft = copy.deepcopy(traced.graph)
    for node in draft.nodes:
        if node.op == "call_function" and node.target is POOL:
            name = free_name(traced, "pooled")
            traced.add_module(name, nn.AdaptiveAvgPool2d(node.args[1]))
            node.op, node.target, node.args = "call_module", name, node.args[:1]
    draft.lint()
    traced.graph = draft


@right
def records_the_call_through_a_proxy(traced):
    tracer = fx.proxy.GraphAppendingTracer(traced.graph)
    taken = {name.split(".")[0] for name, _ in traced.named_modules()}
    for node in reversed(pools(traced)):
        name = next(f"layer_{number}" for number in range(1000) if f"layer_{number}" not in taken)
        taken.add(name)
        traced.register_module(name, nn.AdaptiveAvgPool2d(node.args[1]))
        with traced.graph.inserting_after(node):
            new = tracer.create_proxy("call_module", name, (fx.Proxy(node.args[0], tracer),), {}).node
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("Keep these submodules.", case="pools of three sizes")
@wrong("keeps_modules", node="pool", says="its submodule `pool` was overwritten", read=OVERWRITES)
def takes_the_first_name_that_comes_to_mind(traced):
    for number, node in enumerate(pools(traced)):
        value, size = node.args
        name = f"pool_{number}" if number else "pool"
        traced.add_submodule(name, nn.AdaptiveAvgPool2d(size))
        with traced.graph.inserting_before(node):
            new = traced.graph.call_module(name, (value,))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.recompile()


@breaks("Keep these submodules.", case="submodules under many names")
@wrong("keeps_modules", node="squeeze_1", says="its submodule `squeeze_1` was overwritten", read=OVERWRITES)
def takes_the_next_number_without_a_look(traced):
    number = 0
    for node in pools(traced):
        value, size = node.args
        if hasattr(traced, f"squeeze_{number}"):
            number += 1
        traced.add_submodule(f"squeeze_{number}", nn.AdaptiveAvgPool2d(size))
        with traced.graph.inserting_before(node):
            new = traced.graph.call_module(f"squeeze_{number}", (value,))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.recompile()


@breaks("module of the same size", case="pools of three sizes")
@wrong("sizes_kept", says="functions pool to the sizes `1`, `(2, 1)`, `(None, 2)`, in this order")
def knows_the_size(traced):
    for number, node in enumerate(pools(traced)):
        traced.add_submodule(f"squeeze_{number}", nn.AdaptiveAvgPool2d(1))
        with traced.graph.inserting_before(node):
            new = traced.graph.call_module(f"squeeze_{number}", (node.args[0],))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.recompile()


@breaks("Replace", case="the model of the chapter")
@wrong("none_left", node="adaptive_avg_pool2d", says="still calls the function adaptive_avg_pool2d")
def forgets_to_erase(traced):
    for number, node in enumerate(pools(traced)):
        value, size = node.args
        traced.add_submodule(f"squeeze_{number}", nn.AdaptiveAvgPool2d(size))
        with traced.graph.inserting_before(node):
            new = traced.graph.call_module(f"squeeze_{number}", (value,))
        node.replace_all_uses_with(new)
    traced.recompile()


@breaks("Replace every call of `nn.functional.adaptive_avg_pool2d`", case="pools of three sizes")
@wrong("none_left", node="adaptive_avg_pool2d_2", says="still calls the function adaptive_avg_pool2d")
def replaces_the_first_only(traced):
    [node, *_] = pools(traced)
    value, size = node.args
    traced.add_submodule("squeeze", nn.AdaptiveAvgPool2d(size))
    with traced.graph.inserting_before(node):
        new = traced.graph.call_module("squeeze", (value,))
    node.replace_all_uses_with(new)
    traced.graph.erase_node(node)
    traced.recompile()


@breaks("of `nn.functional.adaptive_avg_pool2d`", case="pools of three sizes")
@wrong("pools_are_modules", says="`adaptive_avg_pool3d` is gone, and was to stay")
def takes_each_pool_that_averages(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function" and "avg_pool" in node.target.__name__:
            name = free_name(traced, "shrink")
            traced.add_submodule(name, nn.AdaptiveAvgPool2d(node.args[1]))
            node.op, node.target, node.args = "call_module", name, node.args[:1]
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    for number, node in enumerate(pools(traced)):
        value, size = node.args
        traced.add_submodule(f"squeeze_{number}", nn.AdaptiveAvgPool2d(size))
        with traced.graph.inserting_before(node):
            new = traced.graph.call_module(f"squeeze_{number}", (value,))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)


@wrong(
    "arguments_kept",
    node="squeeze_0",
    says="is passed None where it needs a node",
    read="03_replacement#typeerror-gelu-argument-input-position-1-must-be-tensor-not-nonetype",
)
def erases_before_it_reads_the_arguments(traced):
    for number, node in enumerate(pools(traced)):
        traced.add_submodule(f"squeeze_{number}", nn.AdaptiveAvgPool2d(node.args[1]))
        with traced.graph.inserting_before(node):
            new = traced.graph.call_module(f"squeeze_{number}")
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
        new.args = (node.args[0],)
    traced.recompile()


@wrong(
    "lints",
    node="squeeze_0",
    says="uses itself",
    read="03_replacement#every-cycle-has-one-cause",
)
def reads_the_old_node(traced):
    for number, node in enumerate(pools(traced)):
        traced.add_submodule(f"squeeze_{number}", nn.AdaptiveAvgPool2d(node.args[1]))
        with traced.graph.inserting_after(node):
            new = traced.graph.call_module(f"squeeze_{number}", (node,))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.recompile()


@breaks("by a call of an `nn.AdaptiveAvgPool2d` module", case="the model of the chapter")
@wrong("pools_are_modules", node="mean", says="is new, and was not asked")
def writes_the_mean(traced):
    for node in pools(traced):
        with traced.graph.inserting_before(node):
            new = traced.graph.call_method("mean", (node.args[0], (2, 3), True))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.recompile()


@wrong("edited", says="it was traced or built anew")
def traces_again(traced):
    again = fx.symbolic_trace(traced)
    makes_one_module_for_each_size(again)
    return again


@breaks("in place.", case="the model of the chapter")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    makes_one_module_for_each_size(traced)
    return traced


@wrong("same_result", node="mean", says="(pools of three sizes): the result is not the one asked for")
def reads_the_node_above(traced):
    for node in pools(traced):
        value, name = node.prev, free_name(traced, "squeeze")
        traced.add_submodule(name, nn.AdaptiveAvgPool2d(node.args[1]))
        with traced.graph.inserting_before(node):
            new = traced.graph.call_module(name, (value,))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.recompile()


@wrong(
    "nothing_dead",
    node="squeeze",
    says="is left: no node uses its result",
    read="03_replacement#three-steps-in-this-order",
)
def fetches_the_module_before_it_calls_it(traced):
    for node in pools(traced):
        value, size = node.args
        name = free_name(traced, "squeeze")
        traced.add_submodule(name, nn.AdaptiveAvgPool2d(size))
        with traced.graph.inserting_before(node):
            traced.graph.get_attr(name)
            new = traced.graph.call_module(name, (value,))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.recompile()


@wrong(
    "no_leftovers",
    says="still holds the submodule `squeezes`",
    read="03_replacement#a-function-by-a-module-a-module-by-a-function",
)
def lists_the_modules_for_itself(traced):
    """They hang from the module twice: by their own names, and in a list that no node calls."""
    traced.squeezes = nn.ModuleList(nn.AdaptiveAvgPool2d(node.args[1]) for node in pools(traced))
    for node, module in zip(pools(traced), traced.squeezes, strict=True):
        name = free_name(traced, "squeeze")
        traced.add_submodule(name, module)
        with traced.graph.inserting_before(node):
            new = traced.graph.call_module(name, (node.args[0],))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.recompile()
