"""Answers to 03-pool-as-module."""

import copy

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

LEFT_OVER = "03_replacement#a-function-by-a-module-a-module-by-a-function"
NONE = "03_replacement#typeerror-gelu-argument-input-position-1-must-be-tensor-not-nonetype"
POOL = nn.functional.adaptive_avg_pool2d
OVERWRITES = "when_it_breaks/03_replacement#silent-add_submodule-has-replaced-a-layer-or-changed-the-model"


def pools(traced):
    return traced.graph.find_nodes(op="call_function", target=POOL)


def free_name(traced, wish):
    while hasattr(traced, wish):
        wish += "_"
    return wish


def replace(
    traced, name_of=lambda number: f"squeeze_{number}", args_of=lambda node: node.args[:1], size=None, most=None
):
    """Replace each call to the function with a call to a new module; yield both nodes."""
    for number, node in enumerate(pools(traced)[:most]):
        name = name_of(number)
        traced.add_submodule(name, nn.AdaptiveAvgPool2d(size or node.args[1]))
        with traced.graph.inserting_after(node):
            new = traced.graph.call_module(name, args_of(node))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
        yield node, new


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
def keeps_the_modules_in_a_list(traced):
    name = free_name(traced, "pools")
    nodes = pools(traced)
    setattr(traced, name, nn.ModuleList(nn.AdaptiveAvgPool2d(node.args[1]) for node in nodes))
    for number, node in enumerate(nodes):
        with traced.graph.inserting_before(node):
            new = traced.graph.create_node("call_module", f"{name}.{number}", (), {"input": node.args[0]})
        node.replace_all_uses_with(new, propagate_meta=True)
        traced.graph.erase_node(node)
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
def takes_the_graph_of_a_transformer(traced):
    taken = {name.split(".")[0] for name, _ in traced.named_modules()}

    class Pooling(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target is not POOL:
                return super().call_function(target, args, kwargs)
            name = next(f"layer_{number}" for number in range(1000) if f"layer_{number}" not in taken)
            taken.add(name)
            traced.register_module(name, nn.AdaptiveAvgPool2d(args[1]))
            return self.tracer.create_proxy("call_module", name, args[:1], {})

    traced.graph = Pooling(traced).transform().graph


def run(traced, **parts):
    for _ in replace(traced, **parts):
        pass
    traced.recompile()


@breaks("Keep these submodules.", case="submodules with many names")
@wrong("keeps_modules", node="pool_1", says="the model's own submodule `pool_1` was overwritten", read=OVERWRITES)
def asks_the_nodes_which_names_are_taken(traced):
    targets = {node.target for node in traced.graph.nodes}
    free = (name for name in map("pool_{}".format, range(9)) if name not in targets)
    run(traced, name_of=lambda number: next(free))


@breaks("module of the same size", case="pools of three sizes")
@wrong("sizes_kept", says="functions pool to the sizes `1`, `(2, 1)`, `(None, 2)`, `3`, in this order")
def hard_codes_the_size(traced):
    run(traced, size=1)


@breaks("Replace every call to `nn.functional.adaptive_avg_pool2d`", case="pools of three sizes")
@wrong("none_left", node="adaptive_avg_pool2d_2", says="still calls the function adaptive_avg_pool2d")
def replaces_only_the_first(traced):
    run(traced, most=1)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    list(replace(traced))


@wrong("arguments_kept", node="squeeze_0", says="is passed None where it needs a node", read=NONE)
def erases_before_it_reads_the_arguments(traced):
    for node, new in replace(traced, args_of=lambda node: ()):
        new.args = (node.args[0],)
    traced.recompile()


@wrong("lints", node="squeeze_0", says="uses itself", read="03_replacement#every-cycle-has-one-cause")
def uses_the_old_node(traced):
    run(traced, args_of=lambda node: (node,))


@breaks("with a call to an `nn.AdaptiveAvgPool2d` module", case="pools of three sizes")
@wrong("pools_are_modules", node="adaptive_avg_pool2d", says="calls an nn.Conv2d, not an nn.AdaptiveAvgPool2d")
def calls_a_submodule_that_is_already_there(traced):
    for node in pools(traced):
        name = f"pool_{node.args[1]}"
        if not hasattr(traced, name):
            traced.add_module(free_name(traced, "squeezed"), nn.AdaptiveAvgPool2d(node.args[1]))
            name = list(traced._modules)[-1]
        node.op, node.target, node.args = "call_module", name, node.args[:1]
    traced.recompile()


@wrong("edited", says="it was traced or built again")
def traces_again(traced):
    again = fx.symbolic_trace(traced)
    makes_one_module_for_each_size(again)
    return again


@breaks("in place.", case="the channel attention")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    makes_one_module_for_each_size(traced)
    return traced


@wrong("same_result", node="mean", says="(pools of three sizes): the result is not the one asked for")
def passes_the_node_before(traced):
    run(traced, name_of=lambda number: free_name(traced, f"squeeze_{number}"), args_of=lambda node: (node.prev,))


@wrong(
    "no_dead_nodes", node="squeeze_1", says="no node uses its result", read="03_replacement#three-steps-in-this-order"
)
def fetches_the_module_too(traced):
    for _, new in replace(traced, name_of=lambda number: free_name(traced, "squeeze")):
        with traced.graph.inserting_before(new):
            traced.graph.get_attr(new.target)
    traced.recompile()


@wrong("no_leftovers", says="holds the submodule `squeezes`", read=LEFT_OVER)
def stores_the_modules_twice(traced):
    """The modules are stored twice, because each also has its own name."""
    called = [new for _, new in replace(traced, name_of=lambda number: free_name(traced, "squeeze"))]
    traced.squeezes = nn.ModuleList(traced.get_submodule(new.target) for new in called)
    traced.recompile()
