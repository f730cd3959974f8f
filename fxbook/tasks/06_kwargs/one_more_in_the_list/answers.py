"""Answers to 06-one-more-in-the-list."""

import copy

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong


def cats(traced):
    return traced.graph.find_nodes(op="call_function", target=torch.cat)


def first_input(traced):
    return traced.graph.find_nodes(op="placeholder")[0]


def called_anew(traced, node):
    options = dict(node.kwargs)
    tensors = options.pop("tensors", node.args[0] if node.args else None)
    new = traced.graph.call_function(torch.cat, ([*tensors, first_input(traced)], *node.args[1:]), options)
    node.replace_all_uses_with(new)


@right
def moves_the_list_to_args(traced):
    for node in cats(traced):
        options = dict(node.kwargs)
        tensors = options.pop("tensors") if "tensors" in options else node.args[0]
        node.args, node.kwargs = ((*tensors, first_input(traced)), *node.args[1:]), options
    traced.recompile()


@wrong(
    "ends well",
    says="Your code raises TypeError: 'immutable_list' object does not support mutation. If you are ",
    read="when_it_breaks/06_kwargs#typeerror-immutable_list-object-does-not-support-mutation",
)
def appends_to_the_frozen_list(traced):
    for node in cats(traced):
        node.args[0].append(first_input(traced))
    traced.recompile()


@wrong(
    "ends well",
    says="(a model with two inputs): your code raises IndexError: tuple index",
    read="when_it_breaks/01_node_creation#indexerror-tuple-index-out-of-range",
)
def looks_by_position_only(traced):
    for node in cats(traced):
        node.update_arg(0, [*node.args[0], first_input(traced)])
    traced.recompile()


@breaks("change nothing else", case="a list, a tuple and a stack")
@wrong("dims_kept", node="cat_1", says="Node `cat_1` has lost its `dim`.")
def loses_the_dim(traced):
    for node in cats(traced):
        node.args = ([*node.args[0], first_input(traced)],)
    traced.recompile()


@breaks("as the last tensor of its list.", case="a list, a tuple and a stack")
@wrong(
    "input_in_every_cat",
    node="cat",
    says="Node `cat` was to get the first input, `x`, as one more tensor, at the end of its list.",
)
def puts_it_first(traced):
    for node in cats(traced):
        place = node.kwargs.get("tensors") or node.args[0]
        tensors = [first_input(traced), *place]
        node.update_kwarg("tensors", tensors) if "tensors" in node.kwargs else node.update_arg(0, tensors)
    traced.recompile()


@wrong(
    "same_result",
    node="cat",
    says="Running the result raises TypeError: cat(): argument 'dim' (position 2) must be int, not T",
)
def inserts_an_argument(traced):
    for node in cats(traced):
        node.insert_arg(1, first_input(traced))
    traced.recompile()


@wrong(
    "recompiled",
    says="The graph is changed, but the compiled code is stale: calling the module runs the old code",
    read="00_first_graph#change-one-node",
)
def forgets_to_recompile(traced):
    for node in cats(traced):
        node.update_arg(0, [*node.args[0], first_input(traced)])


def one_more(node, key, joined):
    tensors = node.args[0] if key is None else node.kwargs[key]
    return type(tensors)((*tensors, joined)) if isinstance(tensors, tuple) else [*tensors, joined]


@right
def keeps_a_tuple_a_tuple(traced):
    joined = next(node for node in traced.graph.nodes if node.op == "placeholder")
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target is torch.cat and node.args:
            node.args = (one_more(node, None, joined), *node.args[1:])
        elif node.op == "call_function" and node.target is torch.cat:
            node.kwargs = {**node.kwargs, "tensors": one_more(node, "tensors", joined)}
    traced.recompile()


@right
def finds_the_list_wherever_it_is(traced):
    """It is the only argument that is a list or a tuple."""
    joined = first_input(traced)

    def longer(argument):
        return (*argument, joined) if isinstance(argument, list | tuple) else argument

    for node in cats(traced):
        node.args = tuple(map(longer, node.args))
        node.kwargs = {name: longer(value) for name, value in node.kwargs.items()}
    traced.graph.lint()
    traced.recompile()


@right
def copies_into_a_new_graph(traced):
    graph, copies = fx.Graph(), {}
    for node in traced.graph.nodes:
        new = copies[node] = graph.node_copy(node, copies.__getitem__)
        if node in cats(traced):
            joined = copies[first_input(traced)]
            if node.args:
                new.args = ((*new.args[0], joined), *new.args[1:])
            else:
                new.update_kwarg("tensors", [*new.kwargs["tensors"], joined])
    traced.graph = graph


@breaks("Add the first input of the model", case="a model with two inputs")
@wrong("input_in_every_cat", node="cat_1", says="node `cat_1` was to get the first input, `image`, as one more")
def joins_the_last_input(traced):
    last = traced.graph.find_nodes(op="placeholder")[-1]
    for node in cats(traced):
        if "tensors" in node.kwargs:
            node.update_kwarg("tensors", [*node.kwargs["tensors"], last])
        else:
            node.update_arg(0, [*node.args[0], last])
    traced.recompile()


@wrong(
    "lints",
    node="output",
    says="The graph is broken: node `output` reads cat_2 before it is defined.",
    read="02_insertion_points#a-node-made-without-an-anchor",
)
def makes_new_calls_without_an_anchor(traced):
    for node in cats(traced):
        called_anew(traced, node)
        traced.graph.erase_node(node)
    traced.recompile()


@wrong(
    "no_dead_nodes",
    node="cat",
    says="Node `cat` is dead: no node uses its result.",
    read="02_insertion_points#a-new-node-needs-a-user",
)
def leaves_the_old_calls(traced):
    for node in cats(traced):
        with traced.graph.inserting_before(node):
            called_anew(traced, node)
    traced.recompile()


@wrong("edited", says="No node of the graph that was given is left: it was traced or built anew, an edit was asked.")
def traces_it_once_more(traced):
    again = fx.symbolic_trace(traced)
    moves_the_list_to_args(again)
    return again


@wrong("dims_kept", node="cat_1", says="(a model with two inputs): node `cat_1` has lost its `dim`.")
def loses_the_dim_by_name(traced):
    for node in cats(traced):
        if "tensors" in node.kwargs:
            node.kwargs = {"tensors": [*node.kwargs["tensors"], first_input(traced)]}
        else:
            node.update_arg(0, [*node.args[0], first_input(traced)])
    traced.recompile()


@breaks("Edit `traced` in place", case="a list, a tuple and a stack")
@wrong("given_edited", says="You edited a copy: the module that you were given is what it was.")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    moves_the_list_to_args(traced)
    return traced


@breaks("to every `torch.cat`", case="a list, a tuple and a stack")
@wrong("input_in_every_cat", node="cat_1", says="Node `cat_1` was to get the first input, `x`, as one more tensor")
def leaves_what_has_it_already(traced):
    joined = first_input(traced)
    for node in cats(traced):
        if joined not in node.all_input_nodes:
            options = dict(node.kwargs)
            tensors = options.pop("tensors") if "tensors" in options else node.args[0]
            node.args, node.kwargs = ((*tensors, joined), *node.args[1:]), options
    traced.recompile()


@breaks("its name is `tensors`.", case="a model with two inputs")
@wrong(
    "input_in_every_cat",
    node="cat_1",
    says="(a model with two inputs): node `cat_1` was to get the first input, `image`",
)
def leaves_out_what_is_by_name(traced):
    for node in cats(traced):
        if node.args:
            node.update_arg(0, [*node.args[0], first_input(traced)])
    traced.recompile()


@breaks("The list may be a tuple", case="a list, a tuple and a stack")
@wrong("input_in_every_cat", node="cat_1", says="Node `cat_1` was to get the first input, `x`, as one more tensor")
def leaves_out_tuples(traced):
    for node in cats(traced):
        if node.args and isinstance(node.args[0], list):
            node.update_arg(0, [*node.args[0], first_input(traced)])
        elif isinstance(node.kwargs.get("tensors"), list):
            node.update_kwarg("tensors", [*node.kwargs["tensors"], first_input(traced)])
    traced.recompile()


def joins(traced, node, joined):
    options = dict(node.kwargs)
    tensors = options.pop("tensors") if "tensors" in options else node.args[0]
    node.args, node.kwargs = ((*tensors, joined), *node.args[1:]), options


@breaks("and add no call.", case="a list, a tuple and a stack")
@wrong("as_many_calls", node="clone", says="The graph has 5 calls, where the model has 4: none was to be added.")
def joins_a_copy_of_the_input(traced):
    with traced.graph.inserting_after(traced.graph.find_nodes(op="placeholder")[-1]):
        copied = traced.graph.call_method("clone", (first_input(traced),))
    for node in cats(traced):
        joins(traced, node, copied)
    traced.recompile()
