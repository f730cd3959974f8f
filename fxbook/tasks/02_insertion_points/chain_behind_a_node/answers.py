"""Answers to 02-chain-behind-a-node."""

import copy
import functools

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"
USES = "02_insertion_points#replace-uses-without-a-cycle"


def named(traced, name):
    return next(node for node in traced.graph.nodes if node.name == name)


def chained(traced, newest, functions):
    """Insert a chain after a node; return its last node, which has no users yet."""
    for function in functions:
        with traced.graph.inserting_after(newest):
            newest = traced.graph.call_function(function, (newest,))
    return newest


def replace(traced, users, node, newest):
    for user in users:
        user.replace_input_with(node, newest)
    traced.recompile()


@right
def anchors_on_the_node_that_follows(traced, name, functions):
    node = named(traced, name)
    users, newest = list(node.users), node
    with traced.graph.inserting_before(node.next):
        for function in functions:
            newest = traced.graph.call_function(function, (newest,))
    for user in users:
        user.replace_input_with(node, newest)
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
def builds_the_chain_from_its_end(traced, name, functions):
    """Nodes inserted after one anchor come out reversed, so they are made in reverse order."""
    node, links = named(traced, name), []
    with traced.graph.inserting_after(node):
        for function in reversed(functions):
            links.insert(0, traced.graph.call_function(function))
    if links:
        node.replace_all_uses_with(links[-1])
    for read, link in zip([node, *links], links, strict=False):
        link.args = (read,)
    traced.recompile()


@wrong("lints", node="square", says="uses log1p before it is defined", read=USES)
def replaces_all_uses(traced, name, functions):
    node = named(traced, name)
    node.replace_all_uses_with(chained(traced, node, functions))
    traced.recompile()


@breaks("every user of `up` gets `log1p(square(up))`.", case="`up` of the block")
@wrong("chain_in_order", node="square", says="Node `square` uses `log1p`: the chain is square, log1p")
def applies_the_functions_in_reverse(traced, name, functions):
    anchors_on_the_node_that_follows(traced, name, functions[::-1])


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced, name, functions):
    node = named(traced, name)
    users = list(node.users)
    newest = chained(traced, node, functions)
    for user in users:
        user.replace_input_with(node, newest)


@wrong("no_dead_nodes", node="log1p", says="is dead", read="02_insertion_points#a-new-node-needs-a-user")
def rewires_the_users_of_the_new_node(traced, name, functions):
    """`newest.users` is empty, so no user is rewired."""
    node = named(traced, name)
    newest = chained(traced, node, functions)
    replace(traced, list(newest.users), node, newest)


@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced, name, functions):
    traced = copy.deepcopy(traced)
    anchors_on_the_node_that_follows(traced, name, functions)
    return traced


@wrong("output_last", node="square", says="is after `output`: it never runs", read=NO_ANCHOR)
def makes_the_chain_without_an_anchor(traced, name, functions):
    newest = named(traced, name)
    for function in functions:
        newest = traced.graph.call_function(function, (newest,))
    traced.recompile()


@breaks("`name` is the name of the node.", case="a value used by keyword and by the same function")
@wrong("only_behind_the_node", node="square_3", says="`square_3` uses `scores_1`: only users of `scores` should get")
def changes_every_call_of_the_target(traced, name, functions):
    node = named(traced, name)
    for call in traced.graph.find_nodes(op=node.op, target=node.target):
        anchors_on_the_node_that_follows(traced, call.name, functions)


@breaks("the tuple can be empty.", case="an empty chain")
@wrong("chain_in_order", node="square", says="node `square` is new: the chain is empty")
def has_a_default_for_an_empty_chain(traced, name, functions):
    anchors_on_the_node_that_follows(traced, name, functions or (torch.square, torch.log1p))


@breaks("Insert a chain of functions", case="a value used by keyword and by the same function")
@wrong(
    "writes_stay",
    says="node `sub_` writes in place and is gone, but should have stayed: `mul.sub_(1.0)`",
    read="03_replacement#what-removing-dead-code-deletes",
)
def removes_dead_code_too(traced, name, functions):
    """The result of a call that writes in place need not have a user."""
    anchors_on_the_node_that_follows(traced, name, functions)
    traced.graph.eliminate_dead_code()
    traced.recompile()


@breaks("and all its users.", case="a value used by keyword and by the same function")
@wrong("chain_read_by_all", node="square", says="node `square` still uses `scores`", read=USES)
def recognises_new_nodes_by_their_target(traced, name, functions):
    node = named(traced, name)
    newest = chained(traced, node, functions)
    node.replace_all_uses_with(newest, delete_user_cb=lambda user: user.target not in functions)
    traced.recompile()


@breaks("between one node and all its users.", case="a value used in lists, by name and twice")
@wrong("lints", node="mul", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def inserts_before_the_first_of_the_users(traced, name, functions):
    node = newest = named(traced, name)
    users = list(node.users)
    with traced.graph.inserting_before(users[0]):
        for function in functions:
            newest = traced.graph.call_function(function, (newest,))
    replace(traced, users, node, newest)


@breaks("a tuple of functions that each take one tensor", case="a value used by keyword and by the same function")
@wrong("same_result", node="silu", says="silu")
def calls_methods_of_the_same_names(traced, name, functions):
    node = newest = named(traced, name)
    users = list(node.users)
    for function in functions:
        with traced.graph.inserting_after(newest):
            newest = traced.graph.call_method(function.__name__, (newest,))
    replace(traced, users, node, newest)
