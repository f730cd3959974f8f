"""Answers to 07-store-an-input: an input becomes a buffer."""

import copy

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"
NO_SUCH = "when_it_breaks/01_node_creation#references-nonexistent-attribute"
TENSOR = "01_node_creation#a-tensor-is-not-an-argument"
EDIT = "07_placeholder#add-move-and-remove-inputs"


def the_input(traced, name):
    [node] = traced.graph.find_nodes(op="placeholder", target=name)
    return node


def replace(traced, name, make, path):
    """Put the node that ``make(path)`` makes in the place of the input."""
    node = the_input(traced, name)
    with traced.graph.inserting_after(node):
        node.replace_all_uses_with(make(path))
    traced.graph.erase_node(node)
    traced.recompile()


def read_from(traced, name, path):
    replace(traced, name, traced.graph.get_attr, path)


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
    """Takes no input and returns its buffer."""

    def __init__(self, value):
        super().__init__()
        self.register_buffer("value", value)

    def forward(self):
        return self.value


@right
def calls_a_layer_that_returns_it(traced, name, value):
    traced.add_submodule(f"production.{name}", Stored(value))
    replace(traced, name, traced.graph.call_module, f"production.{name}")
    return traced


@breaks("so that `state_dict` contains it.", case="the mask in the model of the chapter")
@wrong("in_state_dict", node="stored_mask", says="it should be a persistent buffer", read=EDIT)
def makes_a_buffer_that_is_not_saved(traced, name, value):
    traced.register_buffer(f"stored_{name}", value, persistent=False)
    read_from(traced, name, f"stored_{name}")


@wrong("each_is_saved", says="The `state_dict` of the module has no new tensors: it should have one for", read=EDIT)
def calls_a_layer_whose_buffer_is_not_saved(traced, name, value):
    traced.add_submodule(f"stored_{name}", Stored(value))
    traced.get_submodule(f"stored_{name}").register_buffer("value", value, persistent=False)
    replace(traced, name, traced.graph.call_module, f"stored_{name}")


@breaks("Store the value as a buffer", case="the mask in the model of the chapter")
@wrong("in_state_dict", node="stored_mask", says="`stored_mask` is a parameter, which an optimizer would", read=EDIT)
def makes_a_parameter(traced, name, value):
    traced.register_parameter(f"stored_{name}", nn.Parameter(value))
    read_from(traced, name, f"stored_{name}")


@breaks(
    "The model may already have an attribute with the same name as the parameter.",
    case="an input with the name of a buffer, returned and in a list",
)
@wrong("own_weights_stay", node="rows_2", says="fetches `rows`, a name that the module already uses")
def names_the_buffer_like_the_input(traced, name, value):
    traced.register_buffer(name, value)
    read_from(traced, name, name)


@breaks("Your function may be called several times, for one input after another.", case="two inputs to store")
@wrong("no_shared_buffer", node="stored_1", says="nodes `stored` and `stored_1` both fetch `stored`")
def gives_every_buffer_the_same_name(traced, name, value):
    traced.register_buffer("stored", value)
    read_from(traced, name, "stored")


@wrong("tensor_free", node="add", says="has a tensor among its arguments", read=TENSOR)
def passes_the_tensor_to_the_users(traced, name, value):
    node = the_input(traced, name)
    for user in list(node.users):
        user.args = fx.node.map_arg(user.args, lambda read: value if read is node else read)
    traced.graph.erase_node(node)


@breaks("Remove it from the signature:", case="the mask in the model of the chapter")
@wrong("inputs_gone", node="mask", says="The graph still has the input `mask`: it should have become a", read=EDIT)
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


@wrong("lints", node="stored_mask", says="references nonexistent attribute stored_mask", read=NO_SUCH)
def forgets_the_buffer(traced, name, value):
    read_from(traced, name, f"stored_{name}")


@breaks("all users of the input get instead.", case="the mask in the model of the chapter")
@wrong("users_get_the_value", node="add", says="Node `add` used the input `mask`, but does not use the buffer")
def passes_zeros_to_the_users(traced, name, value):
    node = the_input(traced, name)
    for user in list(node.users):
        user.args = fx.node.map_arg(user.args, lambda read: 0.0 if read is node else read)
    traced.register_buffer(f"stored_{name}", value)
    traced.graph.erase_node(node)
    traced.recompile()


@breaks("Edit traced", case="the mask in the model of the chapter")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced, name, value):
    traced = copy.deepcopy(traced)
    turns_the_node_itself_into_a_fetch(traced, name, value)
    return traced


@breaks("`value` is the tensor", case="the mask in the model of the chapter")
@wrong("same_result", node="add", says="The result is not the one asked for: it holds different numbers.")
def stores_zeros_until_a_value_is_loaded(traced, name, value):
    turns_the_node_itself_into_a_fetch(traced, name, torch.zeros_like(value))


@wrong("output_last", node="stored_unread", says="(an input without users): node `stored_unread` is", read=NO_ANCHOR)
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
