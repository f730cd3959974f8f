"""Answers to P1-clean-it: everything that only training needs is removed."""

import copy

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

IDLE = nn.Dropout, nn.Dropout2d, nn.Identity
DEAD = "03_replacement#what-removing-dead-code-deletes"
LEFT = "03_replacement#a-function-by-a-module-a-module-by-a-function"


def is_idle(traced, node, kinds=IDLE):
    return node.op == "call_module" and isinstance(traced.get_submodule(node.target), kinds)


def bypass(traced, kinds=IDLE, value_of=lambda node: node.all_input_nodes[0]):
    """Erase the calls to these layers; their users use the input of the layer instead."""
    for node in list(traced.graph.nodes):
        if is_idle(traced, node, kinds):
            node.replace_all_uses_with(value_of(node))
            traced.graph.erase_node(node)


def finish(traced, unused=True, compile_it=True):
    traced.graph.eliminate_dead_code()
    if unused:
        traced.delete_all_unused_submodules()
    if compile_it:
        traced.recompile()


def clean(traced, kinds=IDLE, **parts):
    bypass(traced, kinds)
    finish(traced, **parts)


@right
def walks_from_the_end(traced):
    for node in reversed(traced.graph.nodes):
        if node.op in ("placeholder", "output"):
            continue
        if is_idle(traced, node):
            node.replace_all_uses_with(next(iter(node.all_input_nodes)))
        if not node.users:
            traced.graph.erase_node(node)
    for path, _module in reversed(list(traced.named_modules())):
        called = {node.target for node in traced.graph.find_nodes(op="call_module")}
        if path and not any(f"{target}.".startswith(f"{path}.") for target in called):
            traced.delete_submodule(path)
    traced.recompile()


@right
def copies_the_nodes_that_are_needed(traced):
    graph, copies = fx.Graph(), {}
    bypass(traced)
    traced.graph.eliminate_dead_code()
    for node in traced.graph.nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    traced.graph = graph
    traced.delete_all_unused_submodules()


class WithoutIdle(fx.Transformer):
    def call_module(self, target, args, kwargs):
        if isinstance(self.fetch_attr(target), IDLE):
            return [*args, *kwargs.values()][0]
        return super().call_module(target, args, kwargs)


@right
def assigns_the_graph_of_a_transformer(traced):
    traced.graph = WithoutIdle(traced).transform().graph
    finish(traced)


@right
def maps_the_arguments_of_all_nodes(traced):
    stands = {}
    for node in list(traced.graph.nodes):
        node.args = fx.node.map_arg(node.args, lambda value: stands.get(value, value))
        node.kwargs = fx.node.map_arg(node.kwargs, lambda value: stands.get(value, value))
        if is_idle(traced, node):
            stands[node] = node.all_input_nodes[0]
    finish(traced)


@breaks("No node calls an `nn.Dropout`, an `nn.Dropout2d`", case="the network of the project")
@wrong("idle_layers_taken_out", node="blocks_0_drop", says="still calls an nn.Dropout2d")
def overlooks_dropout2d(traced):
    clean(traced, kinds=(nn.Dropout, nn.Identity))


@breaks("The result depends on every node that is left.", case="the network of the project")
@wrong("nothing_dead", node="auxiliary_1", says="is left, but no node uses its result")
def erases_the_last_dead_node_only(traced):
    bypass(traced)
    for node in list(traced.graph.nodes):
        if not node.users and node.op.startswith("call"):
            traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()


@breaks("Every layer left in the network is called by a node.", case="the network of the project")
@wrong("no_leftovers", says="The result still holds the submodule", read=LEFT)
def keeps_the_layers(traced):
    clean(traced, unused=False)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    clean(traced, compile_it=False)


@breaks("Edit a traced network in place", case="the network of the project")
@wrong("given_edited", says="You edited a copy")
def cleans_a_copy(traced):
    traced = copy.deepcopy(traced)
    clean(traced)
    return traced


@wrong("edited", says="it was traced or built again")
def traces_again(traced):
    clean(traced)
    return fx.symbolic_trace(traced)


@breaks("and so does every input, used or unused.", case="every kind of dropout, and an unused input")
@wrong("inputs_kept", says="input `mean` is no longer at its position")
def erases_unused_inputs(traced):
    clean(traced)
    for node in traced.graph.find_nodes(op="placeholder"):
        if not node.users:
            traced.graph.erase_node(node)
    traced.recompile()


@breaks("Every other node stays,", case="every kind of dropout, and an unused input")
@wrong("others_stay", says="but the result depends on it: `self.near.class_dropout3d(", read=DEAD)
def removes_every_kind_of_dropout(traced):
    clean(traced, kinds=(nn.modules.dropout._DropoutNd, nn.Identity))


@wrong(
    "lints",
    node="blocks_0_conv1",
    says="which is not in this graph",
    read="01_node_creation#does-not-belong-to-this-graph-but-was-used-as-an-argument",
)
def uses_a_node_of_a_copy(traced):
    clean(traced)
    other = copy.deepcopy(traced).graph
    [relu] = [node for node in other.nodes if node.name == "relu"] or [next(iter(other.nodes))]
    for node in traced.graph.find_nodes(op="call_module"):
        if node.name == "blocks_0_conv1":
            node.args = (relu,)


@breaks("the users of such a call use its input instead.", case="the network of the project")
@wrong("same_result", node="add", says="it holds different numbers")
def takes_the_node_before_it_in_the_list(traced):
    bypass(traced, value_of=lambda node: node.prev)
    finish(traced)


@wrong("ends well", says="Several nodes call the same layer, `drop` or `same`.")
def deletes_a_layer_at_its_first_call(traced):
    for node in list(traced.graph.nodes):
        if is_idle(traced, node):
            node.replace_all_uses_with(node.all_input_nodes[0])
            traced.graph.erase_node(node)
            traced.delete_submodule(node.target)
    finish(traced)


@breaks(
    "A node may pass its input by keyword, as in `self.drop(input=x)`.",
    case="every kind of dropout, and an unused input",
)
@wrong(
    "ends well",
    says="IndexError: tuple index out of range. In this graph `drop_2` gets its input by keyword",
    read="when_it_breaks/01_node_creation#indexerror-tuple-index-out-of-range",
)
def takes_the_first_positional_argument(traced):
    bypass(traced, value_of=lambda node: node.args[0])
    finish(traced)
