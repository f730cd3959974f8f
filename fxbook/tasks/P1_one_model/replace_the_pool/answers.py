"""Answers to P1-replace-the-pool: one mean in place of a global pool and its flattening."""

import copy

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong


def dims(traced, node):
    if node.op == "call_module":
        layer = traced.get_submodule(node.target)
        return (layer.start_dim, layer.end_dim) if isinstance(layer, nn.Flatten) else None
    if node.target not in (torch.flatten, "flatten"):
        return None
    given = dict(zip(["input", "start_dim", "end_dim"], node.args, strict=False)) | node.kwargs
    return given.get("start_dim", 0), given.get("end_dim", -1)


def by_method(graph, value):
    return graph.call_method("mean", (value, (2, 3)))


def pairs(traced, sizes=(1, (1, 1)), flat=((1, -1),), users=(1,)):
    """The pools and flattenings to replace, with parameters for what a wrong answer ignores."""
    for node in list(traced.graph.find_nodes(op="call_module")):
        pool = traced.get_submodule(node.target)
        if isinstance(pool, nn.AdaptiveAvgPool2d) and (sizes is None or pool.output_size in sizes):
            for user in list(node.users):
                if len(node.users) in users and (flat is None or dims(traced, user) in flat) and dims(traced, user):
                    yield node, user


def erase(traced, pool, flat, mean):
    flat.replace_all_uses_with(mean)
    traced.graph.erase_node(flat)
    if not pool.users:
        traced.graph.erase_node(pool)


def finish(traced):
    traced.delete_all_unused_submodules()
    traced.recompile()


def replace(
    traced,
    make=by_method,
    finish=finish,
    input_of=lambda pool: pool.all_input_nodes[0],
    only=lambda flat: True,
    **which,
):
    """The solution, with parameters for what another answer does differently."""
    for pool, flat in pairs(traced, **which):
        if only(flat):
            with traced.graph.inserting_before(flat):
                mean = make(traced.graph, input_of(pool))
            erase(traced, pool, flat, mean)
    finish(traced)


@right
def names_the_dimensions(traced):
    replace(traced, lambda graph, value: graph.call_function(torch.mean, (), {"input": value, "dim": (-1, -2)}))
    return traced


class Mean(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))


@right
def calls_a_module_of_its_own(traced):
    for place, (pool, flat) in enumerate(pairs(traced)):
        traced.add_submodule(f"mean_{place}", Mean())
        with traced.graph.inserting_after(pool):
            new = traced.graph.call_module(f"mean_{place}", (pool.all_input_nodes[0],))
        erase(traced, pool, flat, new)
    finish(traced)


@right
def begins_at_the_flattening(traced):
    for flat in list(traced.graph.nodes):
        pool = next(iter(flat.all_input_nodes), None)
        if flat.op not in ("output", "placeholder") and (pool, flat) in set(pairs(traced)):
            with traced.graph.inserting_before(pool):
                mean = by_method(traced.graph, pool.all_input_nodes[0])
            erase(traced, pool, flat, mean)
    # This leaves a container without layers.
    called = {node.target for node in traced.graph.find_nodes(op="call_module")}
    for name, layer in list(traced.named_modules()):
        if isinstance(layer, (nn.AdaptiveAvgPool2d, nn.Flatten)) and name not in called:
            traced.delete_submodule(name)
    traced.recompile()


class Replacing(fx.Transformer):
    def __init__(self, traced):
        super().__init__(traced)
        self.pools, self.flats = map(set, zip(*pairs(traced), strict=True))

    def run_node(self, node):
        if node in self.pools:
            return self.env[node.all_input_nodes[0]]
        if node in self.flats:
            return self.env[node.all_input_nodes[0]].mean((2, 3))
        return super().run_node(node)


@right
def assigns_the_graph_of_a_transformer(traced):
    traced.graph = Replacing(traced).transform().graph
    finish(traced)


@breaks("whose `output_size` is `1` or `(1, 1)`.", "Every other node stays.", case="pools of every kind")
@wrong("others_stay", node=None, says="is gone, but is not part of a pair to replace: `self.column(")
def ignores_the_rows(traced):
    replace(traced, sizes=(1, (1, 1), (2, 1)))


@breaks("The **flattening** goes from dimension 1 to the last.", case="pools of every kind")
@wrong("others_stay", node=None, says="is gone, but is not part of a pair to replace")
def ignores_the_dimensions(traced):
    replace(traced, flat=None)


@breaks("The flattening is the only user of the pool.", case="pools of every kind")
@wrong("others_stay", node=None, says="is gone, but is not part of a pair to replace")
def ignores_other_users(traced):
    replace(traced, users=(1, 2))


@breaks(
    "one node takes the place of each such pair.",
    "It is a call to an `nn.Flatten`, to `torch.flatten` or to the method `flatten`;",
    case="pools of every kind",
)
@wrong("pairs_replaced", node="pair", says="Your answer works for the model you know, but not ")
def overlooks_functions_and_layers(traced):
    replace(traced, only=lambda flat: flat.op == "call_method")


@breaks("gives the mean over rows and columns.", case="the network of the project")
@wrong("same_result", node="head", says="it holds different numbers")
def takes_the_largest(traced):
    replace(traced, lambda graph, value: graph.call_method("amax", (value, (2, 3))))


@wrong(
    "nothing_dies",
    node="pool",
    says="is left, but no node uses its result",
    read="03_replacement#three-steps-in-this-order",
)
def leaves_the_pool(traced):
    for pool, flat in list(pairs(traced)):
        with traced.graph.inserting_before(flat):
            flat.replace_all_uses_with(by_method(traced.graph, pool.all_input_nodes[0]))
        traced.graph.erase_node(flat)
    traced.recompile()


@breaks("Every layer left in the network is called by a node.", case="the network of the project")
@wrong(
    "no_leftovers",
    says="still holds the submodule `pool`",
    read="03_replacement#a-function-by-a-module-a-module-by-a-function",
)
def keeps_the_layer(traced):
    replace(traced, finish=fx.GraphModule.recompile)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    replace(traced, finish=fx.GraphModule.delete_all_unused_submodules)


@breaks("Edit a traced network in place:", case="the network of the project")
@wrong("given_edited", says="You edited a copy")
def replaces_in_a_copy(traced):
    traced = copy.deepcopy(traced)
    replace(traced)
    return traced


@wrong("edited", says="it was traced or built again")
def traces_again(traced):
    replace(traced)
    return fx.symbolic_trace(traced)


@wrong("lints", node="head", says="before it is defined", read="02_insertion_points#a-node-made-without-an-anchor")
def forgets_the_anchor(traced):
    for pool, flat in pairs(traced):
        erase(traced, pool, flat, by_method(traced.graph, pool.all_input_nodes[0]))
    traced.recompile()


@breaks("A node may pass its input by keyword, as in `self.pool(input=x)`.", case="pools of every kind")
@wrong(
    "ends well",
    says="IndexError: tuple index out of range. In this graph `pair` gets its input by keyword",
    read="when_it_breaks/01_node_creation#indexerror-tuple-index-out-of-range",
)
def takes_the_first_positional_argument(traced):
    replace(traced, input_of=lambda pool: pool.args[0])
