"""Answers to 02-halve-the-skip."""

import copy
import operator

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

IN_PLACE = "01_node_creation#four-spellings-of-add"
NEEDS_A_USER = "02_insertion_points#a-new-node-needs-a-user"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"


def additions(traced):
    return traced.graph.find_nodes(op="call_function", target=operator.add)


@right
def assigns_new_arguments(traced):
    """Makes a half for each side of each addition, so x + x gets two halves."""
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target is operator.add:
            with traced.graph.inserting_before(node):
                node.args = tuple(
                    (0.5 * fx.Proxy(side)).node if isinstance(side, fx.Node) and side.op == "placeholder" else side
                    for side in node.args
                )
    traced.recompile()


@right
def assigns_the_graph_of_a_transformer(traced):
    class Halving(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target is operator.add:
                args = tuple(self.halved(side) for side in args)
            return super().call_function(target, args, kwargs)

        def halved(self, side):
            is_input = isinstance(side, fx.Proxy) and side.node.op == "placeholder"
            return side * 0.5 if is_input else side

    traced.graph = Halving(traced).transform().graph


@right
def copies_node_by_node_and_adds_halves(traced):
    graph, copied, halves = fx.Graph(), {}, {}
    for node in traced.graph.nodes:
        is_addition = node.op == "call_function" and node.target is operator.add
        for value in node.all_input_nodes if is_addition else ():
            if value.op == "placeholder" and value not in halves:
                halves[value] = graph.call_function(torch.div, (copied[value], 2))
        copied[node] = graph.node_copy(node, ({**copied, **halves} if is_addition else copied).__getitem__)
    traced.graph = graph


@right
def replaces_all_uses_and_restores_some(traced):
    for value in traced.graph.find_nodes(op="placeholder"):
        users = list(value.users)
        if not set(users).intersection(additions(traced)):
            continue
        with traced.graph.inserting_after(value):
            half = traced.graph.call_function(torch.multiply, (value,), {"other": 0.5})
        for user in value.replace_all_uses_with(half):
            if user is half or user not in additions(traced):
                user.replace_input_with(half, value)
    traced.recompile()
    return traced


def half_of(graph, value):
    return graph.call_function(torch.mul, (value, 0.5))


def halve_each(
    traced, chosen=lambda value: value.op == "placeholder", make=half_of, additions=additions, compiled=True
):
    """Let each addition use the node that ``make`` returns in place of a chosen value."""
    for node in additions(traced):
        for value in filter(chosen, node.all_input_nodes):
            with traced.graph.inserting_before(node):
                half = make(traced.graph, value)
            node.replace_input_with(value, half)
    if compiled:
        traced.recompile()


@breaks("Make every addition use half of an input", case="a model with two inputs")
@wrong("only_additions_read_half", node="step_7", says="still uses the whole input `residual`: additions should use")
def leaves_out_additions_without_users(traced):
    halve_each(traced, additions=lambda traced: [node for node in additions(traced) if node.users])


@breaks("and inputs are the placeholders.", case="an input that no addition uses")
@wrong("only_additions_read_half", node="add_5", says="uses `tanh`: only inputs of the model should be halved")
def halves_the_result_of_a_method_of_an_input(traced):
    halve_each(traced, lambda value: value.op == "placeholder" or value.target == "tanh")


@wrong("lints", node="mul", says="node `mul` uses itself", read="02_insertion_points#replace-uses-without-a-cycle")
def passes_the_half_to_itself(traced):
    for value in traced.graph.find_nodes(op="placeholder"):
        with traced.graph.inserting_after(value):
            half = half_of(traced.graph, value)
        value.replace_all_uses_with(half)
    traced.recompile()


@breaks("must not change the tensors that the caller passes.", case="the block of the chapter")
@wrong("callers_input_stays", node="mul_", says="works in place: it changes the tensor passed as `x`", read=IN_PLACE)
def halves_in_place(traced):
    halve_each(traced, make=lambda graph, value: graph.call_method("mul_", (value, 0.5)))


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    halve_each(traced, compiled=False)


@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    halve_each(traced)
    return traced


@wrong("output_last", node="mul", says="is after `output`: it never runs", read=NO_ANCHOR)
def makes_the_halves_without_an_anchor(traced):
    for value in traced.graph.find_nodes(op="placeholder"):
        half_of(traced.graph, value)
    traced.recompile()


@breaks("use half of an input", case="the block of the chapter")
@wrong("half_is_half", node="floordiv", says="computes `operator.floordiv(x, 2)`, not half of `x`")
def uses_floor_division(traced):
    """`//` rounds the half down."""
    halve_each(traced, make=lambda graph, value: graph.call_function(operator.floordiv, (value, 2)))


@wrong("no_dead_nodes", node="mul", says="is dead: no node uses its result", read=NEEDS_A_USER)
def gives_the_halves_no_users(traced):
    for value in traced.graph.find_nodes(op="placeholder"):
        with traced.graph.inserting_after(value):
            half_of(traced.graph, value)
    traced.recompile()


@breaks("In `x + x`, both sides are halved.", case="a model with two inputs")
@wrong("only_additions_read_half", node="step_9", says="still uses the whole input `x`: additions should use half of")
def changes_one_side_of_a_sum_with_itself(traced):
    for node in additions(traced):
        for value in node.all_input_nodes:
            if value.op == "placeholder":
                with traced.graph.inserting_before(node):
                    node.update_arg(node.args.index(value), half_of(traced.graph, value))
    traced.recompile()


@breaks(
    "All other users, including nodes that add in another way, such as `torch.add`, keep the whole input.",
    "Additions are the nodes whose target is `operator.add`",
    case="an input that no addition uses",
)
@wrong("only_additions_read_half", node="iadd", says="uses `x`: only additions should use half of an input")
def halves_in_additions_in_place_too(traced):
    """In a graph that ``torch.compile`` records, ``+=`` becomes ``operator.iadd``."""
    both = (operator.add, operator.iadd)
    halve_each(traced, additions=lambda traced: [node for node in traced.graph.nodes if node.target in both])


@wrong("same_result", node="add", says="its item 0 has dtype float32, not float64")
def halves_in_float32(traced):
    halve_each(traced, make=lambda graph, value: graph.call_method("float", (half_of(graph, value),)))


@wrong(
    "writes_stay",
    says="node `mul_` writes in place and is gone, but should have stayed: `iadd.mul_(0.5)`",
    read="03_replacement#what-removing-dead-code-deletes",
)
def removes_dead_code_too(traced):
    assigns_new_arguments(traced)
    traced.graph.eliminate_dead_code()
    traced.recompile()
