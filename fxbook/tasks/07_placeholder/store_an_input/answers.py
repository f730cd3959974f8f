"""Answers to 07-store-an-input: one parameter less and one buffer more."""

import copy

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

EDIT = "07_placeholder#add-move-and-remove-inputs"


def the_input(traced, name):
    [node] = traced.graph.find_nodes(op="placeholder", target=name)
    return node


def read_from(traced, name, path):
    """The edit itself, once the tensor is where path says."""
    node = the_input(traced, name)
    with traced.graph.inserting_after(node):
        stored = traced.graph.get_attr(path)
    node.replace_all_uses_with(stored)
    traced.graph.erase_node(node)
    traced.recompile()


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def turns_the_node_itself_into_a_fetch(traced, name, value):
    node = the_input(traced, name)
    path = f"fixed_{name}"
    traced.register_buffer(path, value)
    node.op, node.target, node.args, node.type = "get_attr", path, (), None
    traced.graph.lint()
    traced.recompile()


@right
def maps_the_arguments_of_each_user(traced, name, value):
    path = f"of_production_{name}"
    setattr(traced, path, nn.Buffer(value))
    node = the_input(traced, name)
    stored = traced.graph.create_node("get_attr", path)
    node.prepend(stored)
    for user in list(node.users):
        user.args, user.kwargs = fx.node.map_arg(
            (user.args, user.kwargs), lambda read: stored if read is node else read
        )
    traced.graph.erase_node(node)
    traced.recompile()


@right
def gives_it_an_edited_copy_of_its_graph(traced, name, value):
    traced.register_buffer(f"kept_{name}", value.clone(), persistent=True)
    graph = copy.deepcopy(traced.graph)
    for node in graph.nodes:
        if node.op == "placeholder" and node.target == name:
            with graph.inserting_before(node):
                node.replace_all_uses_with(graph.get_attr(f"kept_{name}"))
            graph.erase_node(node)
    traced.graph = graph


class Stored(nn.Module):
    """Takes nothing, and returns what it holds."""

    def __init__(self, value):
        super().__init__()
        self.register_buffer("value", value)

    def forward(self):
        return self.value


@right
def calls_a_layer_that_returns_it(traced, name, value):
    node = the_input(traced, name)
    traced.add_submodule(f"production.{name}", Stored(value))
    with traced.graph.inserting_after(node):
        node.replace_all_uses_with(traced.graph.call_module(f"production.{name}"))
    traced.graph.erase_node(node)
    traced.recompile()
    return traced


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("so that `state_dict` contains it.", case="the mask of the model of the chapter")
@wrong("in_state_dict", node="stored_mask", says="it should be a buffer that is saved", read=EDIT)
def makes_a_buffer_that_is_not_saved(traced, name, value):
    traced.register_buffer(f"stored_{name}", value, persistent=False)
    read_from(traced, name, f"stored_{name}")


@wrong(
    "each_is_saved",
    says="The `state_dict` of the model has no new tensors: it should have one for `mask`",
    read=EDIT,
)
def calls_a_layer_whose_buffer_is_not_saved(traced, name, value):
    traced.add_submodule(f"stored_{name}", Stored(value))
    traced.get_submodule(f"stored_{name}").register_buffer("value", value, persistent=False)
    node = the_input(traced, name)
    with traced.graph.inserting_after(node):
        node.replace_all_uses_with(traced.graph.call_module(f"stored_{name}"))
    traced.graph.erase_node(node)
    traced.recompile()


@breaks("Store the value as a buffer", case="the mask of the model of the chapter")
@wrong("in_state_dict", node="stored_mask", says="`stored_mask` is a parameter, which training changes", read=EDIT)
def makes_a_parameter(traced, name, value):
    traced.register_parameter(f"stored_{name}", nn.Parameter(value))
    read_from(traced, name, f"stored_{name}")


@breaks(
    "The model may already have an attribute with the same name as the parameter.",
    case="an input with the name of a buffer, returned and in a list",
)
@wrong(
    "own_weights_stay",
    node="rows_2",
    says="fetches `rows`, a name that the module already uses",
)
def calls_the_buffer_as_the_parameter(traced, name, value):
    traced.register_buffer(name, value)
    read_from(traced, name, name)


@breaks(
    "Your function may be called several times, for one input after another.", case="two inputs, one after the other"
)
@wrong(
    "no_shared_buffer",
    node="stored_1",
    says="(two inputs, one after the other): nodes `stored` and `stored_1` both fetch `stored`",
)
def calls_every_buffer_stored(traced, name, value):
    traced.register_buffer("stored", value)
    read_from(traced, name, "stored")


@wrong(
    "tensor_free",
    node="add",
    says="has a tensor among its arguments",
    read="01_node_creation#a-tensor-is-not-an-argument",
)
def passes_the_tensor_to_the_users(traced, name, value):
    node = the_input(traced, name)
    for user in list(node.users):
        user.args = fx.node.map_arg(user.args, lambda read: value if read is node else read)
    traced.graph.erase_node(node)


@breaks("Remove it from the signature:", case="the mask of the model of the chapter")
@wrong("inputs_gone", node="mask", says="The graph still has the input `mask`: a call has to pass it", read=EDIT)
def leaves_the_input_without_users(traced, name, value):
    traced.register_buffer(f"stored_{name}", value)
    node = the_input(traced, name)
    with traced.graph.inserting_after(node):
        node.replace_all_uses_with(traced.graph.get_attr(f"stored_{name}"))
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced, name, value):
    traced.register_buffer(f"stored_{name}", value)
    node = the_input(traced, name)
    with traced.graph.inserting_after(node):
        node.replace_all_uses_with(traced.graph.get_attr(f"stored_{name}"))
    traced.graph.erase_node(node)


@wrong(
    "lints",
    node="stored_mask",
    says="references nonexistent attribute stored_mask",
    read="when_it_breaks/01_node_creation#references-nonexistent-attribute",
)
def forgets_the_buffer(traced, name, value):
    read_from(traced, name, f"stored_{name}")


@breaks("all users of the input get instead.", case="the mask of the model of the chapter")
@wrong("users_get_the_value", node="add", says="Node `add` used `mask`, but does not use the stored value")
def stores_zeros_in_the_arguments(traced, name, value):
    node = the_input(traced, name)
    for user in list(node.users):
        user.args = fx.node.map_arg(user.args, lambda read: 0.0 if read is node else read)
    traced.register_buffer(f"stored_{name}", value)
    traced.graph.erase_node(node)
    traced.recompile()


@breaks("Edit traced", case="the mask of the model of the chapter")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced, name, value):
    traced = copy.deepcopy(traced)
    turns_the_node_itself_into_a_fetch(traced, name, value)
    return traced


@breaks("`value` is the tensor", case="the mask of the model of the chapter")
@wrong("same_result", node="add", says="The result is not the one asked for: it holds other numbers.")
def leaves_room_for_a_value_that_is_loaded_later(traced, name, value):
    turns_the_node_itself_into_a_fetch(traced, name, torch.zeros_like(value))


@wrong(
    "output_last",
    node="stored_unread",
    says="(an input without users): node `stored_unread` is after `output`: it never runs.",
    read="02_insertion_points#a-node-made-without-an-anchor",
)
def moves_the_fetch_before_its_first_user(traced, name, value):
    node = the_input(traced, name)
    traced.register_buffer(f"stored_{name}", value)
    fetched = traced.graph.get_attr(f"stored_{name}")
    node.replace_all_uses_with(fetched)
    for user in traced.graph.nodes:
        if user in fetched.users:
            user.prepend(fetched)
            break
    traced.graph.erase_node(node)
    traced.recompile()
