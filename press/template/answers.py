"""Answers to IDENTITY: a graph that adds its input to itself."""

import operator

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

# ---- right -----------------------------------------------------------------------------------------------------------


@right
def traces_a_function():
    return fx.symbolic_trace(lambda x: x + x).graph


@right
def multiplies_by_two():
    graph = fx.Graph()
    graph.output(graph.call_function(operator.mul, (graph.placeholder("x"), 2)))
    return graph


# ---- wrong -----------------------------------------------------------------------------------------------------------


@wrong("placeholders", node="value", says="Input 1 is called `value`, not `x`")
def calls_its_input_otherwise():
    return fx.symbolic_trace(lambda value: value + value).graph


@breaks("computes `x + x`.", case="the doubled input")
@wrong("same_result", node="output", says="it holds different numbers")
def squares():
    return fx.symbolic_trace(lambda x: x * x).graph


@wrong("no_dead_nodes", node="mul", says="no node uses its result", read="02_insertion_points#a-new-node-needs-a-user")
def leaves_a_first_try_behind():
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(torch.mul, (x, 2))
    graph.output(graph.call_function(torch.add, (x, x)))
    return graph


@wrong("lints", node="add", says="uses x before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def puts_the_input_after_its_user():
    graph = fx.Graph()
    x = graph.placeholder("x")
    total = graph.call_function(torch.add, (x, x))
    graph.output(total)
    total.append(x)
    return graph


@wrong("nothing_stored", node="two", says="the graph may use only its input")
def stores_a_factor():
    holder = nn.Module()
    holder.register_buffer("two", torch.full((3,), 2.0))
    graph = fx.Graph()
    graph.output(graph.call_method("mul", (graph.placeholder("x"), graph.get_attr("two"))))
    return fx.GraphModule(holder, graph)
