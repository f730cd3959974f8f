"""Answers to 06-one-more-in-the-list."""

import copy

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

NEEDS_A_USER = "02_insertion_points#a-new-node-needs-a-user"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"


def cats(traced):
    return traced.graph.find_nodes(op="call_function", target=torch.cat)


def first_input(traced):
    return traced.graph.find_nodes(op="placeholder")[0]


def join(node, joined):
    options = dict(node.kwargs)
    tensors = options.pop("tensors") if "tensors" in options else node.args[0]
    node.args, node.kwargs = ((*tensors, joined), *node.args[1:]), options


@right
def moves_the_list_to_args(traced):
    for node in cats(traced):
        join(node, first_input(traced))
    traced.recompile()


@right
def keeps_a_tuple_a_tuple(traced):
    joined = next(node for node in traced.graph.nodes if node.op == "placeholder")
    for node in traced.graph.nodes:
        if node.target is torch.cat:
            old = node.kwargs["tensors"] if "tensors" in node.kwargs else node.args[0]
            new = (*old, joined) if isinstance(old, tuple) else [*old, joined]
            node.update_arg(0, new) if node.args else node.update_kwarg("tensors", new)
    traced.recompile()


@right
def finds_the_list_wherever_it_is(traced):
    """The list is the only argument that is a list or a tuple."""
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
            join(new, copies[first_input(traced)])
    traced.graph = graph


@breaks("change nothing else", case="a list, a tuple and a stack")
@wrong("dims_kept", node="cat_1", says="Node `cat_1` has lost its `dim`.")
def loses_the_dim(traced):
    for node in cats(traced):
        node.args = ([*node.args[0], first_input(traced)],)
    traced.recompile()


@wrong("same_result", node="cat", says="Running the result raises TypeError: cat(): argument 'dim' (position 2) must")
def inserts_an_argument(traced):
    for node in cats(traced):
        node.insert_arg(1, first_input(traced))
    traced.recompile()


@wrong("input_in_every_cat", node="cat", says="has two lists: one by position, and one by keyword, as `tensors`")
def always_sets_the_keyword(traced):
    for node in cats(traced):
        tensors = [*node.args, node.kwargs.get("tensors")][0]
        node.update_kwarg("tensors", [*tensors, first_input(traced)])
    traced.recompile()


@breaks("Leave calls to aliases of `torch.cat`, such as `torch.concat`, as they are.", case="a model with two inputs")
@wrong("input_in_every_cat", node="step_6", says="is not a `torch.cat`, but uses more nodes than before")
def joins_to_the_aliases_too(traced):
    for node in traced.graph.nodes:
        if node.target in (torch.cat, torch.concat, torch.concatenate):
            join(node, first_input(traced))
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    for node in cats(traced):
        join(node, first_input(traced))


@breaks("Add the first input of the model", case="a model with two inputs")
@wrong("input_in_every_cat", node="step_2", says="should have the first input, `image`, as one more tensor")
def joins_the_input_called_x(traced):
    [x] = [node for node in traced.graph.nodes if node.name == "x"]
    for node in cats(traced):
        join(node, x)
    traced.recompile()


def called_anew(traced, node):
    new = traced.graph.call_function(torch.cat, node.args, node.kwargs)
    join(new, first_input(traced))
    node.replace_all_uses_with(new)


@wrong("lints", node="output", says="node `output` uses cat_2 before it is defined.", read=NO_ANCHOR)
def makes_new_calls_without_an_anchor(traced):
    for node in cats(traced):
        called_anew(traced, node)
        traced.graph.erase_node(node)
    traced.recompile()


@wrong("no_dead_nodes", node="cat", says="Node `cat` is dead: no node uses its result.", read=NEEDS_A_USER)
def leaves_the_old_calls(traced):
    for node in cats(traced):
        with traced.graph.inserting_before(node):
            called_anew(traced, node)
    traced.recompile()


@breaks("Edit `traced` in place", case="a list, a tuple and a stack")
@wrong("given_edited", says="You edited a copy: the module that you were given is unchanged.")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    moves_the_list_to_args(traced)
    return traced


@breaks("to every `torch.cat`", case="a model with two inputs")
@wrong("input_in_every_cat", node="step_3", says="should have the first input, `image`, as one more tensor")
def skips_calls_without_users(traced):
    for node in cats(traced):
        if node.users:
            join(node, first_input(traced))
    traced.recompile()


@breaks("whose name is `tensors`.", case="a model with two inputs")
@wrong("input_in_every_cat", node="step_2", says="should have the first input, `image`, as one more tensor")
def skips_lists_passed_by_name(traced):
    for node in cats(traced):
        if node.args:
            join(node, first_input(traced))
    traced.recompile()


@breaks("It may be a tuple", case="a list, a tuple and a stack")
@wrong("input_in_every_cat", node="cat_1", says="Node `cat_1` should have the first input, `x`, as one more tensor")
def skips_tuples(traced):
    for node in cats(traced):
        if isinstance([*node.args, node.kwargs.get("tensors")][0], list):
            join(node, first_input(traced))
    traced.recompile()


@breaks("and add no call.", case="a list, a tuple and a stack")
@wrong("others_stay", node="clone", says="Node `clone` is new, and the task does not ask for it: `x.clone()`")
def joins_a_copy_of_the_input(traced):
    with traced.graph.inserting_after(traced.graph.find_nodes(op="placeholder")[-1]):
        copied = traced.graph.call_method("clone", (first_input(traced),))
    for node in cats(traced):
        join(node, copied)
    traced.recompile()
