"""Answers to 02-round-every-function."""

import copy

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

IN_PLACE = "01_node_creation#four-spellings-of-add"
NEEDS_A_USER = "02_insertion_points#a-new-node-needs-a-user"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"


@right
def rounds_before_each_user(traced):
    functions = [node for node in traced.graph.nodes if node.op == "call_function"]
    for node in functions:
        for user in list(node.users):
            with traced.graph.inserting_before(user):
                user.replace_input_with(node, torch.round(fx.Proxy(node)).node)
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
    """Makes the new nodes, then gives them their users, and finally their arguments."""

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


def rounding(traced, is_meant=lambda node: node.op == "call_function", function=torch.round, compiled=True, **kwargs):
    """Let the users of each chosen node use its rounded result."""
    for node in list(traced.graph.nodes):
        if is_meant(node):
            users = list(node.users)
            with traced.graph.inserting_after(node):
                rounded = traced.graph.call_function(function, (node,), kwargs)
            for user in users:
                user.replace_input_with(node, rounded)
    if compiled:
        traced.recompile()


@wrong("ends well", says="it may loop for ever")
def rounds_its_own_rounds(traced):
    for node in traced.graph.nodes:
        if node.op == "call_function":
            users = list(node.users)
            with traced.graph.inserting_after(node):
                rounded = traced.graph.call_function(torch.round, (node,))
            for user in users:
                user.replace_input_with(node, rounded)
    traced.recompile()


@wrong("no_dead_nodes", node="round_1", says="is dead: `down` still uses `relu`", read=NEEDS_A_USER)
def leaves_the_rounds_without_users(traced):
    for node in traced.graph.find_nodes(op="call_function", target=torch.relu):
        with traced.graph.inserting_after(node):
            traced.graph.call_function(torch.round, (node,))
    traced.recompile()


@wrong("lints", node="round_1", says="uses itself", read="02_insertion_points#replace-uses-without-a-cycle")
def passes_each_round_to_itself(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function":
            with traced.graph.inserting_after(node):
                rounded = traced.graph.call_function(torch.round, (node,))
            node.replace_all_uses_with(rounded)
    traced.recompile()


@breaks("between every `call_function` node", case="the block of the chapter")
@wrong("functions_rounded", node="output", says="uses `add`, which is not rounded")
def rounds_only_after_relu(traced):
    rounding(traced, lambda node: node.target is torch.relu)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    rounding(traced, compiled=False)


@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    rounding(traced)
    return traced


@wrong("output_last", node="round_1", says="is after `output`: it never runs", read=NO_ANCHOR)
def makes_the_rounds_without_an_anchor(traced):
    for node in traced.graph.find_nodes(op="call_function", target=torch.relu):
        traced.graph.call_function(torch.round, (node,))
    traced.recompile()


@breaks("Insert `torch.round`", case="the block of the chapter")
@wrong("calls", says="No node calls torch.round.")
def calls_the_built_in_round(traced):
    rounding(traced, function=round)


@breaks("`torch.round` between", case="the block of the chapter")
@wrong("to_whole_numbers", node="round_1", says="rounds to 1 decimals, not to whole numbers")
def keeps_one_decimal(traced):
    rounding(traced, decimals=1)


@wrong("same_result", node="down", says="The result is not the one asked for")
def doubles_each_rounded_value(traced):
    for node in list(traced.graph.nodes):
        if node.op == "call_function":
            users = dict(node.users)
            with traced.graph.inserting_before(node.next):
                doubled = (torch.round(fx.Proxy(node)) * 2).node
            node.replace_all_uses_with(doubled, delete_user_cb=users.__contains__)
    traced.recompile()


@breaks("`call_function` node and its users.", case="functions in a row, one of which is `torch.round`")
@wrong("functions_rounded", node="mul_1", says="uses `round_1`, which is not rounded")
def skips_rounds_of_the_model(traced):
    rounding(traced, lambda node: node.op == "call_function" and node.target is not torch.round)


@breaks("`torch.round` between", case="results used by keyword, twice, and in a dict")
@wrong("rounds_share_no_memory", node="round_", says="node `round_` works in place: `step_0` shares its", read=IN_PLACE)
def rounds_in_place(traced):
    rounding(traced, function=torch.round_)


@wrong(
    "writes_stay",
    says="node `add_` writes in place and is gone, but should have stayed: `sigmoid.add_(1.0)`",
    read="03_replacement#what-removing-dead-code-deletes",
)
def removes_dead_code_too(traced):
    rounds_before_each_user(traced)
    traced.graph.eliminate_dead_code()
    traced.recompile()
