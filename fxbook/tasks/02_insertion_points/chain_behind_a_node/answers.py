"""Answers to 02-chain-behind-a-node: every user of a node gets the end of a chain instead."""

import copy
import functools

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong


def named(traced, name):
    return next(node for node in traced.graph.nodes if node.name == name)


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def anchors_on_the_node_that_follows(traced, name, functions):
    node = named(traced, name)
    readers, newest = list(node.users), node
    with traced.graph.inserting_before(node.next):
        for function in functions:
            newest = traced.graph.call_function(function, (newest,))
    for reader in readers:
        reader.replace_input_with(node, newest)
    traced.recompile()


@right
def assigns_the_graph_of_a_transformer(traced, name, functions):
    class Changing(fx.Transformer):
        def run_node(self, node):
            value = super().run_node(node)
            return functools.reduce(lambda found, function: function(found), functions * (node.name == name), value)

    traced.graph = Changing(traced).transform().graph


@right
def copies_node_by_node_into_a_graph_that_it_assigns(traced, name, functions):
    graph, copied = fx.Graph(), {}
    for node in traced.graph.nodes:
        newest = graph.node_copy(node, copied.__getitem__)
        for function in functions if node.name == name else ():
            newest = graph.call_function(function, (newest,))
        copied[node] = newest
    traced.graph = graph
    return traced


@right
def builds_it_from_the_last_function(traced, name, functions):
    """Directly after one anchor the nodes come out reversed, so they are made in the reverse order."""
    node = named(traced, name)
    links = []
    with traced.graph.inserting_after(node):
        for function in reversed(functions):
            links.insert(0, traced.graph.call_function(function))
    if links:
        node.replace_all_uses_with(links[-1])
    for read, link in zip([node, *links], links, strict=False):
        link.args = (read,)
    traced.graph.lint()
    traced.recompile()


# ---- wrong -----------------------------------------------------------------------------------------------------------


@wrong(
    "lints",
    node="square",
    says="reads log1p before it is defined",
    read="02_insertion_points#replace-uses-without-a-cycle",
)
def hands_every_reader_over(traced, name, functions):
    node = newest = named(traced, name)
    for function in functions:
        with traced.graph.inserting_after(newest):
            newest = traced.graph.call_function(function, (newest,))
    node.replace_all_uses_with(newest)
    traced.recompile()


@breaks("and all its users.", case="a value read in lists, by name and twice")
@wrong(
    "chain_read_by_all",
    node="cat",
    says="still uses `block` itself: every user was to get the end",
    read="02_insertion_points#replace-uses-without-a-cycle",
)
def serves_the_next_node_only(traced, name, functions):
    node = newest = named(traced, name)
    reader = node.next
    with traced.graph.inserting_before(reader):
        for function in functions:
            newest = traced.graph.call_function(function, (newest,))
    reader.replace_input_with(node, newest)
    traced.recompile()


@breaks("every user of `up` gets `log1p(square(up))`.", case="`up` of the block")
@wrong("chain_in_order", node="square", says="Node `square` uses `log1p`: the chain asked is square, log1p")
def applies_the_functions_from_behind(traced, name, functions):
    node = newest = named(traced, name)
    readers = list(node.users)
    with traced.graph.inserting_before(node.next):
        for function in reversed(functions):
            newest = traced.graph.call_function(function, (newest,))
    for reader in readers:
        reader.replace_input_with(node, newest)
    traced.recompile()


@breaks("`functions` is a tuple of functions", case="an input")
@wrong("chain_in_order", says="no node calls exp: the chain asked is exp, tanh, neg")
def knows_the_functions_of_the_example(traced, name, functions):
    anchors_on_the_node_that_follows(traced, name, (torch.square, torch.log1p))


@wrong("ends well", says="your code raises StopIteration")
def looks_for_the_target(traced, name, functions):
    node = next(node for node in traced.graph.nodes if node.target == name)
    anchors_on_the_node_that_follows(traced, node.name, functions)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced, name, functions):
    node = newest = named(traced, name)
    readers = list(node.users)
    for function in functions:
        with traced.graph.inserting_after(newest):
            newest = traced.graph.call_function(function, (newest,))
    for reader in readers:
        reader.replace_input_with(node, newest)


@wrong("no_dead_nodes", node="log1p", says="is dead", read="02_insertion_points#a-new-node-needs-a-user")
def takes_the_readers_of_the_new_node(traced, name, functions):
    """`newest.users` is empty, so nobody is rerouted."""
    node = newest = named(traced, name)
    for function in functions:
        with traced.graph.inserting_after(newest):
            newest = traced.graph.call_function(function, (newest,))
    for reader in list(newest.users):
        reader.replace_input_with(node, newest)
    traced.recompile()


@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced, name, functions):
    traced = copy.deepcopy(traced)
    anchors_on_the_node_that_follows(traced, name, functions)
    return traced


@wrong(
    "output_last",
    node="square",
    says="is after `output`: it never runs",
    read="02_insertion_points#a-node-made-without-an-anchor",
)
def makes_the_chain_and_leaves_it_there(traced, name, functions):
    newest = named(traced, name)
    for function in functions:
        newest = traced.graph.call_function(function, (newest,))
    traced.recompile()


@wrong("same_result", node="square", says="Running the result raises TypeError: square(): argument 'input'")
def wraps_the_arguments_twice(traced, name, functions):
    """Each function gets a tuple, which holds what it should get."""
    node = named(traced, name)
    readers, args = list(node.users), (node,)
    with traced.graph.inserting_before(node.next):
        for function in functions:
            args = (traced.graph.call_function(function, (args,)),)
    for reader in readers:
        reader.replace_input_with(node, *args)
    traced.recompile()


@wrong("no_dead_nodes", node="log1p_4", says="is dead: no node uses its result")
def makes_a_chain_for_each_use(traced, name, functions):
    """Where a node reads the value twice, its first chain takes both places, and the second has no reader."""
    node = named(traced, name)
    for reader in list(node.users):
        uses = []
        fx.node.map_arg((reader.args, reader.kwargs), uses.append)
        for _ in range(uses.count(node)):
            newest = node
            with traced.graph.inserting_before(reader):
                for function in functions:
                    newest = traced.graph.call_function(function, (newest,))
            reader.replace_input_with(node, newest)
    traced.recompile()


@breaks("`name` is the name of the node.", case="a function of the block")
@wrong(
    "chain_read_by_all",
    node="down",
    says="still uses `relu` itself",
    read="02_insertion_points#replace-uses-without-a-cycle",
)
def changes_nothing_where_no_target_is_called_so(traced, name, functions):
    for node in [node for node in traced.graph.nodes if node.target == name]:
        anchors_on_the_node_that_follows(traced, node.name, functions)


@breaks("it can be empty.", case="no function at all")
@wrong("chain_in_order", node="square", says="node `square` is new, and the chain asked is empty")
def takes_a_default_for_an_empty_chain(traced, name, functions):
    anchors_on_the_node_that_follows(traced, name, functions or (torch.square, torch.log1p))


@breaks("Insert a chain of functions", case="a value read by name, beside another")
@wrong("chain_in_order", node="square_1", says="node `square_1` uses `scores`: the chain asked is square, square, silu")
def calls_each_function_once(traced, name, functions):
    anchors_on_the_node_that_follows(traced, name, tuple(dict.fromkeys(functions)))


@breaks("and all its users.", case="a value read by name, beside another")
@wrong(
    "chain_read_by_all",
    node="square",
    says="node `square` still uses `scores` itself",
    read="02_insertion_points#replace-uses-without-a-cycle",
)
def knows_new_nodes_by_their_target(traced, name, functions):
    node = newest = named(traced, name)
    for function in functions:
        with traced.graph.inserting_after(newest):
            newest = traced.graph.call_function(function, (newest,))
    node.replace_all_uses_with(newest, delete_user_cb=lambda user: user.target not in functions)
    traced.recompile()


@breaks("between one node and all its users.", case="a value read in lists, by name and twice")
@wrong("lints", node="mul", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def inserts_before_the_first_of_the_users(traced, name, functions):
    node = newest = named(traced, name)
    users = list(node.users)
    with traced.graph.inserting_before(users[0]):
        for function in functions:
            newest = traced.graph.call_function(function, (newest,))
    for user in users:
        user.replace_input_with(node, newest)
    traced.recompile()


@breaks("a tuple of functions of one tensor", case="a value read by name, beside another")
@wrong("same_result", node="silu", says="silu")
def calls_methods_of_the_same_names(traced, name, functions):
    node = newest = named(traced, name)
    users = list(node.users)
    for function in functions:
        with traced.graph.inserting_after(newest):
            newest = traced.graph.call_method(function.__name__, (newest,))
    for user in users:
        user.replace_input_with(node, newest)
    traced.recompile()
