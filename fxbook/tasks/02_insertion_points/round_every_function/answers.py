"""Answers to 02-round-every-function: what a call_function computes is rounded before anything reads it."""

import copy

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

# ---- right -----------------------------------------------------------------------------------------------------------


@right
def rounds_before_each_reader(traced):
    functions = [node for node in traced.graph.nodes if node.op == "call_function"]
    for node in functions:
        for reader in list(node.users):
            with traced.graph.inserting_before(reader):
                reader.replace_input_with(node, torch.round(fx.Proxy(node)).node)
    traced.graph.lint()
    traced.recompile()


@right
def assigns_the_graph_of_a_transformer(traced):
    class Rounding(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return torch.round(super().call_function(target, args, kwargs))

    traced.graph = Rounding(traced).transform().graph


@right
def copies_node_by_node_into_a_graph_that_it_assigns(traced):
    graph, copied = fx.Graph(), {}
    for node in traced.graph.nodes:
        copied[node] = graph.node_copy(node, copied.__getitem__)
        if node.op == "call_function":
            copied[node] = graph.call_function(torch.round, (copied[node],))
    traced.graph = graph
    return traced


@right
class MakesAllRoundsFirst:
    """Then gives each its users, and at last each its argument."""

    def __call__(self, traced):
        rounds = {}
        for node in list(traced.graph.nodes):
            if node.op == "call_function":
                rounds[node] = traced.graph.create_node("call_function", torch.round)
                node.append(rounds[node])
        for node, rounded in rounds.items():
            node.replace_all_uses_with(rounded)
        for node, rounded in rounds.items():
            rounded.args = (node,)
        traced.recompile()
        return True


# ---- wrong -----------------------------------------------------------------------------------------------------------


@wrong("ends well", says="it may loop for ever")
def meets_its_own_nodes(traced):
    for node in traced.graph.nodes:
        if node.op == "call_function":
            readers = list(node.users)
            with traced.graph.inserting_after(node):
                rounded = traced.graph.call_function(torch.round, (node,))
            for reader in readers:
                reader.replace_input_with(node, rounded)
    traced.recompile()


@wrong(
    "no_dead_nodes",
    node="round_1",
    says="is dead: no node uses its result",
    read="02_insertion_points#a-new-node-needs-a-user",
)
def gives_the_rounds_no_readers(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function":
            with traced.graph.inserting_after(node):
                traced.graph.call_function(torch.round, (node,))
    traced.recompile()


@wrong(
    "lints", node="round_1", says="node `round_1` uses itself", read="02_insertion_points#replace-uses-without-a-cycle"
)
def hands_each_round_to_itself(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function":
            with traced.graph.inserting_after(node):
                rounded = traced.graph.call_function(torch.round, (node,))
            node.replace_all_uses_with(rounded)
    traced.recompile()


@breaks("between every `call_function` node", case="the block of the chapter")
@wrong("functions_rounded", node="output", says="uses `add`, which is not rounded")
def knows_the_functions_of_torch_only(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function" and node.target is torch.relu:
            with traced.graph.inserting_after(node):
                rounded = traced.graph.call_function(torch.round, (node,))
            node.replace_all_uses_with(rounded, delete_user_cb=lambda user, new=rounded: user is not new)
    traced.recompile()


@breaks("and its users.", case="functions in a row, one of them `torch.round`")
@wrong("functions_rounded", node="square", says="uses `mul_1`, which is not rounded")
def serves_the_first_reader_only(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function":
            reader = next(iter(node.users))
            with traced.graph.inserting_before(reader):
                rounded = traced.graph.call_function(torch.round, (node,))
            reader.replace_input_with(node, rounded)
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function":
            with traced.graph.inserting_after(node):
                rounded = traced.graph.call_function(torch.round, (node,))
            node.replace_all_uses_with(rounded, delete_user_cb=lambda user, new=rounded: user is not new)


@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    rounds_before_each_reader(traced)
    return traced


@wrong(
    "output_last",
    node="round_1",
    says="is after `output`: it never runs",
    read="02_insertion_points#a-node-made-without-an-anchor",
)
def makes_the_rounds_and_leaves_them_there(traced):
    for node in traced.graph.find_nodes(op="call_function", target=torch.relu):
        traced.graph.call_function(torch.round, (node,))
    traced.recompile()


@breaks("Insert `torch.round`", case="the block of the chapter")
@wrong("calls", says="No node calls round")
def cuts_off_what_stands_behind_the_point(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function":
            with traced.graph.inserting_after(node):
                cut = traced.graph.call_function(torch.trunc, (node,))
            node.replace_all_uses_with(cut, delete_user_cb=lambda user, new=cut: user is not new)
    traced.recompile()


@breaks("`torch.round` between", case="the block of the chapter")
@wrong("to_whole_numbers", node="round_1", says="rounds to 1 decimals: `torch.round(value)` was asked")
def keeps_one_decimal(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function":
            with traced.graph.inserting_after(node):
                rounded = traced.graph.call_function(torch.round, (node,), {"decimals": 1})
            node.replace_all_uses_with(rounded, delete_user_cb=lambda user, new=rounded: user is not new)
    traced.recompile()


@wrong("no_dead_nodes", node="round_1", says="is dead: no node uses its result")
def rounds_anew_and_leaves_the_old_round(traced):
    """What is rounded already gets a new round in place of the old one, which is not erased."""
    for node in list(traced.graph.nodes):
        if node.op == "call_function" and node.target is not torch.round:
            old = [user for user in node.users if user.target is torch.round]
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(torch.round, (node,))
            for replaced in (node, *old):
                replaced.replace_all_uses_with(new, delete_user_cb=lambda user, kept=(new, *old): user not in kept)
    traced.recompile()


@wrong("same_result", node="down", says="The result is not the one asked for")
def doubles_what_is_rounded(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function":
            users = dict(node.users)
            with traced.graph.inserting_before(node.next):
                doubled = (torch.round(fx.Proxy(node)) * 2).node
            node.replace_all_uses_with(doubled, delete_user_cb=users.__contains__)
    traced.recompile()


def rounding(traced, is_meant, function=torch.round, replace=fx.Node.replace_input_with):
    """Rounds what nodes give that are meant, for each of their users."""
    for node in list(traced.graph.nodes):
        if is_meant(node):
            users = list(node.users)
            with traced.graph.inserting_after(node):
                rounded = traced.graph.call_function(function, (node,))
            for user in users:
                replace(user, node, rounded)
    traced.recompile()


def is_function(node):
    return node.op == "call_function"


@breaks("`call_function` node and its users.", case="results read by name, twice, in a dict and by a round")
@wrong("functions_rounded", node="mul_3", says="node `mul_3` uses `mul_1`, which is not rounded")
def takes_every_round_for_its_own(traced):
    rounding(traced, lambda node: is_function(node) and all(user.target is not torch.round for user in node.users))


@breaks("`torch.round` between", case="results read by name, twice, in a dict and by a round")
@wrong(
    "rounds_share_no_memory",
    node="round_",
    says="node `round_` works in place: `getitem` shares its memory with an input of the model",
    read="01_node_creation#four-spellings-of-add",
)
def rounds_in_place(traced):
    rounding(traced, is_function, torch.round_)
