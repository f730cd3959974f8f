"""Answers to 07-add-an-offset: a new input, after all others, is added to the result."""

import copy
import operator

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

ADD = "01_node_creation#four-spellings-of-add"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"
NO_USER = "02_insertion_points#a-new-node-needs-a-user"
OVERWRITTEN = "when_it_breaks/07_placeholder#silent-a-node-overwrites-the-parameter"
USES = "03_replacement#one-use-or-all-uses"
EDIT = "07_placeholder#add-move-and-remove-inputs"


def last_input(graph):
    return graph.find_nodes(op="placeholder")[-1]


def new_input(graph, default=0.0):
    with graph.inserting_after(last_input(graph)):
        return graph.placeholder("offset", default_value=default)


def returns_sum(traced, offset, function=operator.add):
    [output] = traced.graph.find_nodes(op="output")
    with traced.graph.inserting_before(output):
        output.args = (traced.graph.call_function(function, (output.args[0], offset)),)
    traced.recompile()


@right
def adds_with_proxies(traced):
    graph = traced.graph
    output = graph.output_node()
    offset = new_input(graph)
    with graph.inserting_before(output):
        total = fx.Proxy(output.args[0]) + fx.Proxy(offset)
    output.replace_input_with(output.args[0], total.node)
    traced.recompile()


@right
def replaces_the_result_in_the_output(traced):
    graph = traced.graph
    output = graph.output_node()
    [result] = output.args
    with graph.inserting_before(output):
        offset = graph.create_node("placeholder", "offset", args=(0.0,), type_expr=float)
        total = graph.call_method("add", (result, offset))
    [*_, last] = (node for node in graph.nodes if node.op == "placeholder" and node is not offset)
    last.append(offset)
    result.replace_all_uses_with(total, delete_user_cb=lambda user: user is output)
    traced.recompile()
    return traced


@right
class CopiesIntoANewGraph:
    def __call__(self, traced):
        graph, copied = fx.Graph(), {}
        result = graph.graph_copy(traced.graph, copied)
        last = copied[last_input(traced.graph)]
        with graph.inserting_after(last):
            offset = graph.placeholder("offset", default_value=0.0)
        graph.output(graph.call_function(torch.add, (result, offset)))
        traced.graph = graph


@right
def makes_both_at_the_end_and_moves_them(traced):
    graph = traced.graph
    output, last = graph.output_node(), last_input(graph)
    [result] = output.args
    offset = graph.placeholder("offset", type_expr=float, default_value=0.0)
    total = graph.call_function(torch.add, (result,), {"other": offset})
    last.append(offset)
    output.prepend(total)
    output.update_arg(0, total)
    traced.recompile()


@wrong("lints", node="add_1", says="uses offset before it is defined", read=NO_ANCHOR)
def makes_the_input_without_an_anchor(traced):
    graph = traced.graph
    offset = graph.placeholder("offset", default_value=0.0)
    returns_sum(traced, offset)


@breaks("it returns its result + offset", case="the model of the chapter, without an offset")
@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    graph = traced.graph
    output = graph.output_node()
    offset = new_input(graph)
    with graph.inserting_before(output):
        output.args = (graph.call_function(operator.add, (output.args[0], offset)),)


@breaks("with the default 0.0", case="the model of the chapter, without an offset")
@wrong("input_added_last", node="offset", says="`offset` has the default 0, an integer", read=EDIT)
def makes_an_integer_the_default(traced):
    graph = traced.graph
    offset = new_input(graph, default=0)
    returns_sum(traced, offset)


@wrong("no_dead_nodes", node="add_1", says="is dead: no node uses its result", read=NO_USER)
def returns_the_old_result(traced):
    graph = traced.graph
    offset = new_input(graph)
    with graph.inserting_before(graph.output_node()):
        graph.call_function(operator.add, (graph.output_node().args[0], offset))
    traced.recompile()


@breaks("The offset is added to the result", case="a model that asserts something about its result")
@wrong("offset_added", node="add", says="node `add` adds the offset to `step_4`")
def mistakes_the_last_node_for_the_result(traced):
    graph = traced.graph
    result = list(graph.nodes)[-2]
    output = graph.output_node()
    offset = new_input(graph)
    with graph.inserting_before(output):
        output.args = (graph.call_function(operator.add, (result, offset)),)
    traced.recompile()


@breaks("The offset is added to the result", case="the model of the chapter, with an offset")
@wrong("same_result", node="output", says="it holds different numbers")
def subtracts_the_offset(traced):
    returns_sum(traced, new_input(traced.graph), operator.sub)


@breaks("The offset is added to the result", case="a model that returns its input")
@wrong("callers_input_stays", node="add_", says="node `add_` works in place: it changes the tensor passed as", read=ADD)
def adds_in_place(traced):
    returns_sum(traced, new_input(traced.graph), torch.Tensor.add_)


@breaks("after all others", case="a model whose last input comes after a step")
@wrong("input_added_last", node="offset", says="`offset` comes before `unread`", read=EDIT)
def puts_the_input_before_the_first_step(traced):
    graph = traced.graph
    with graph.inserting_before(next(node for node in graph.nodes if node.op != "placeholder")):
        offset = graph.placeholder("offset", default_value=0.0)
    returns_sum(traced, offset)


@wrong("parameters_kept", node="offset_1", says="the line of node `offset` overwrites the parameter", read=OVERWRITTEN)
def puts_the_input_before_the_output(traced):
    graph = traced.graph
    output = graph.output_node()
    with graph.inserting_before(output):
        offset = graph.placeholder("offset", default_value=0.0)
        output.args = (graph.call_function(operator.add, (output.args[0], offset)),)
    traced.recompile()


@breaks("Edit `traced` in place.", case="the model of the chapter, without an offset")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    adds_with_proxies(traced)
    return traced


@wrong("output_last", node="offset", says="Node `offset` is after `output`: it never runs.", read=NO_ANCHOR)
def makes_both_nodes_without_an_anchor(traced):
    graph = traced.graph
    [result] = graph.output_node().args
    offset = graph.placeholder("offset", default_value=0.0)
    graph.call_function(operator.add, (result, offset))
    traced.recompile()


@breaks("The offset is added to the result", case="a model that asserts something about its result")
@wrong("other_users_kept", node="step_2", says="node `step_2` uses `add`: the offset should be added", read=USES)
def replaces_all_uses_of_the_result(traced):
    graph = traced.graph
    output = graph.output_node()
    [result] = output.args
    offset = new_input(graph)
    with graph.inserting_before(output) if result.op == "placeholder" else graph.inserting_after(result):
        total = graph.call_function(operator.add, (result, offset))
    result.replace_all_uses_with(total, delete_user_cb=lambda user: user is not total)
    traced.recompile()


@wrong(
    "writes_stay",
    says="node `mul_` writes in place and is gone, but should have stayed: `offset.mul_(2.0)`",
    read="03_replacement#what-removing-dead-code-deletes",
)
def removes_dead_code_too(traced):
    adds_with_proxies(traced)
    traced.graph.eliminate_dead_code()
    traced.recompile()
