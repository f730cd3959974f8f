"""Answers to P1-work-in-place: activations overwrite their inputs where that is safe."""

import copy
import functools
import operator

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

MAKERS = {nn.Conv2d, nn.Linear, nn.BatchNorm2d, torch.add, operator.add}
LAYER = "when_it_breaks/06_kwargs#silent-another-layer-works-in-place-too"


def called(traced, node):
    return type(traced.get_submodule(node.target)) if node.op == "call_module" else node.target


def calls(traced, kinds):
    return [n for n in traced.graph.nodes if called(traced, n) in kinds and not n.kwargs.get("inplace")]


def is_ready(traced, node):
    return node.op == "call_module" and traced.get_submodule(node.target).inplace


def activations(traced, kinds=(nn.ReLU, nn.functional.relu)):
    return [node for node in calls(traced, kinds) if not is_ready(traced, node)]


def safe(traced, node):
    [value] = node.all_input_nodes
    return called(traced, value) in MAKERS and len(value.users) == 1


def by_function(traced, node, erase=True):
    with traced.graph.inserting_before(node):
        new = traced.graph.call_function(nn.functional.relu, tuple(node.all_input_nodes), {"inplace": True})
    node.replace_all_uses_with(new)
    if erase:
        traced.graph.erase_node(node)


def by_method(traced, node, kind=tuple):
    node.args, node.kwargs = kind(node.all_input_nodes), {}
    node.op, node.target = "call_method", "relu_"


def own_layer(traced, node):
    """Give the node its own layer, or set the keyword of a function."""
    if node.op == "call_function":
        node.update_kwarg("inplace", True)
    else:
        node.target = f"in_place_{node.name}"
        traced.add_submodule(node.target, nn.ReLU(inplace=True))


def the_layer_itself(traced, node):
    """Change the layer, which other nodes may call too, or set the keyword of a function."""
    if node.op == "call_function":
        node.update_kwarg("inplace", True)
    else:
        traced.get_submodule(node.target).inplace = True


def in_place(traced, change=by_function, kinds=(nn.ReLU, nn.functional.relu), compile_it=True):
    for node in activations(traced, kinds):
        if safe(traced, node):
            change(traced, node)
    if compile_it:
        traced.recompile()


@right
def calls_the_operator_directly_after_the_maker(traced):
    def change(traced, node):
        [value] = node.all_input_nodes
        with traced.graph.inserting_after(value):
            new = traced.graph.call_function(torch.ops.aten.relu_.default, (value,))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)

    in_place(traced, change)
    return traced


@right
def copies_the_layers(traced):
    def copied(traced, node):
        if node.op == "call_function":
            node.kwargs = {**node.kwargs, "inplace": True}
            return
        layer = copy.deepcopy(traced.get_submodule(node.target))
        layer.inplace = True
        traced.add_submodule(f"copy_{node.name}", layer)
        node.target = f"copy_{node.name}"

    in_place(traced, copied)


@right
def passes_inplace_by_position(traced):
    for node in [node for node in reversed(activations(traced)) if safe(traced, node)]:
        node.op, node.target = "call_function", nn.functional.relu
        node.args, node.kwargs = (*node.all_input_nodes, True), {}
    traced.graph.lint()
    traced.recompile()


@right
def begins_at_the_makers(traced):
    for maker in list(traced.graph.nodes):
        if called(traced, maker) in MAKERS and len(maker.users) == 1:
            [user] = maker.users
            if user in activations(traced):
                own_layer(traced, user)
    traced.recompile()


@breaks(
    "so that its activations overwrite their inputs wherever that is safe.",
    "An **activation** is a call to an `nn.ReLU`",
    case="the network of the project",
)
@wrong("nothing_missed", node="blocks_0_act", says="does not work in place, although that is safe")
def changes_functions_only(traced):
    in_place(traced, kinds=(nn.functional.relu,))


@breaks("It is **safe** if a call to one of `MAKERS` made its input,", case="activations before convolutions")
@wrong("nothing_unsafe", node="relu_12", says="is an input, which belongs to the caller")
def ignores_what_made_the_input(traced):
    for node in activations(traced):
        if len(node.all_input_nodes[0].users) == 1:
            by_function(traced, node)
    traced.recompile()


@breaks("Every other node stays as it is,", "Change nothing else.", case="activations before convolutions")
@wrong("others_stay", node="relu6", says="works in place, but is not an activation")
def sets_every_keyword(traced):
    in_place(traced)
    for node in traced.graph.nodes:
        if "inplace" in node.kwargs and safe(traced, node):
            node.update_kwarg("inplace", True)
    traced.recompile()


@wrong("same_result", node="blocks_0_conv1", says="it holds different numbers")
def calls_another_activation(traced):
    in_place(traced)
    for node in traced.graph.find_nodes(op="call_function", target=nn.functional.relu):
        node.target = nn.functional.celu
    traced.recompile()


@breaks("The graph keeps its number of nodes.", case="the network of the project")
@wrong(
    "nothing_dies",
    node="relu",
    says="is left, but no node uses its result",
    read="03_replacement#three-steps-in-this-order",
)
def leaves_the_old_call(traced):
    in_place(traced, functools.partial(by_function, erase=False))


@wrong("inputs_kept", says="The default of input `std` has changed")
def loses_a_default(traced):
    in_place(traced)
    for node in traced.graph.find_nodes(op="placeholder"):
        node.args = ()
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    in_place(traced, compile_it=False)


@breaks("Edit a traced network in place", case="the network of the project")
@wrong("given_edited", says="You edited a copy")
def changes_a_copy(traced):
    traced = copy.deepcopy(traced)
    in_place(traced)
    return traced


@wrong("edited", says="it was traced or built again")
def traces_again(traced):
    in_place(traced)
    return fx.symbolic_trace(traced)


@wrong(
    "lints",
    node="blocks_0_conv1",
    says="before it is defined",
    read="02_insertion_points#a-node-made-without-an-anchor",
)
def forgets_the_anchor(traced):
    def change(traced, node):
        new = traced.graph.call_function(nn.functional.relu, tuple(node.all_input_nodes), {"inplace": True})
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)

    in_place(traced, change)


@breaks("under one name or under two.", case="one activation for all, under two names")
@wrong("nothing_unsafe", node="act", says="`images` is an input, which belongs to the caller", read=LAYER)
def sets_a_layer_whose_name_is_safe_everywhere(traced):
    safe_nodes = {node for node in activations(traced) if safe(traced, node)}
    for node in list(safe_nodes):
        callers = traced.graph.find_nodes(op="call_module", target=node.target)
        (the_layer_itself if safe_nodes.issuperset(callers) else by_function)(traced, node)
    traced.recompile()


@wrong(
    "args_are_tuples",
    node="relu",
    says="are a list, where torch.fx keeps a tuple",
    read="when_it_breaks/01_node_creation#a-list-assigned-to-nodeargs",
)
def assigns_a_list_of_arguments(traced):
    in_place(traced, functools.partial(by_method, kind=list))
