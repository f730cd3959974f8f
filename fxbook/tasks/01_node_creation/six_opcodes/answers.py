"""Answers to 01-six-opcodes."""

import operator

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

IN_PLACE = "01_node_creation#four-spellings-of-add"
OTHER_GRAPH = "01_node_creation#does-not-belong-to-this-graph-but-was-used-as-an-argument"


@right
def builds_backwards_from_the_output(model):
    """Makes the users of a node before the node itself; returns a GraphModule."""
    graph = fx.Graph()
    output = graph.output(None)
    with graph.inserting_before(output):
        method = graph.create_node("call_method", "tanh")
    with graph.inserting_before(method):
        norm = graph.create_node("call_module", "norm")
    with graph.inserting_before(norm):
        x = graph.create_node("placeholder", "x")
        bias = graph.create_node("get_attr", "bias")
        total = graph.create_node("call_function", operator.add, kwargs=None, args=(bias, x))
    norm.args, method.args, output.args = (total,), (norm,), (method,)
    return fx.GraphModule(model, graph)


@right
def lets_the_tracer_build_it(model):
    return fx.Tracer().trace(model)


@right
def copies_the_nodes_of_a_trace(model):
    graph = fx.Graph()
    graph.output(graph.graph_copy(fx.symbolic_trace(model).graph, {}))
    return graph


@right
class TracesAModuleWithTheSameParts:
    def __call__(self, model):
        class Written(nn.Module):
            def __init__(self):
                super().__init__()
                self.bias, self.norm = model.bias, model.norm

            def forward(self, x):
                return self.norm(self.bias + x).tanh()

        return fx.symbolic_trace(Written())


def added(graph, x, path="bias"):
    return graph.call_function(torch.add, (x, graph.get_attr(path)))


def bounded(graph, value):
    return graph.call_method("tanh", (value,))


def built(add=added, norm="norm", finish=bounded, name="x"):
    """The right graph, with parameters for its parts."""
    graph = fx.Graph()
    graph.output(finish(graph, graph.call_module(norm, (add(graph, graph.placeholder(name)),))))
    return graph


@breaks("the module in which your graph will run.", case="the shifted norm")
@wrong(
    "tensor_free", node="add", says="a tensor among its arguments", read="01_node_creation#a-tensor-is-not-an-argument"
)
def passes_the_parameter_itself(model):
    return built(lambda graph, x: graph.call_function(torch.add, (x, model.bias)))


@breaks("at least one node for each of the six opcodes.", case="the shifted norm")
@wrong("opcodes", says="The graph has no `call_method` node")
def calls_the_function_tanh(model):
    return built(finish=lambda graph, value: graph.call_function(torch.tanh, (value,)))


@wrong("has_node", says="The graph has no `output` node", read="when_it_breaks/01_node_creation#no-output-node")
def forgets_the_output(model):
    graph = built()
    graph.erase_node(graph.output_node())
    return graph


@wrong("no_dead_nodes", node="tanh", says="is dead: no node uses its result")
def returns_the_node_before_the_last(model):
    def finish(graph, value):
        bounded(graph, value)
        return value

    return built(finish=finish)


@wrong(
    "reads_nodes",
    node="add",
    says="has the string 'x' as an argument, not the node of that name",
    read="when_it_breaks/01_node_creation#argument-input-position-1-must-be-tensor-not-str",
)
def passes_names_instead_of_nodes(model):
    def add(graph, x):
        graph.get_attr("bias")
        return graph.call_function(torch.add, ("x", "bias"))

    return built(add)


@breaks("of `norm(x + bias).tanh()`", case="the shifted norm")
@wrong("calls_before", node="norm", says="does not use the sum of `x` and `bias`")
def adds_after_the_norm(model):
    return built(lambda graph, x: x, finish=lambda graph, value: bounded(graph, added(graph, value)))


@wrong("calls", says="No node calls tanh")
def leaves_out_the_tanh(model):
    return built(finish=lambda graph, value: value)


@breaks("The input is called `x`.", case="the shifted norm")
@wrong("placeholders", node="input_1", says="Input 1 is called `input`, not `x`")
def names_the_input_differently(model):
    return built(name="input")


@breaks("`bias` is a parameter of `model`, and `norm` is a submodule.", case="the shifted norm")
@wrong(
    "paths_exist",
    node="self_bias",
    says="fetches `self.bias`: the module has nothing of that name",
    read="when_it_breaks/01_node_creation#referenced-target-head-but-that-target-was-not-provided-in-root",
)
def writes_self_in_front_of_the_paths(model):
    return built(lambda graph, x: added(graph, x, "self.bias"), "self.norm")


@wrong("lints", node="add", says="uses bias, which is not in this graph", read=OTHER_GRAPH)
def takes_the_bias_from_a_trace_of_the_model(model):
    [bias] = fx.symbolic_trace(model).graph.find_nodes(op="get_attr", target="bias")
    return built(lambda graph, x: graph.call_function(torch.add, (x, bias)))


@wrong("fetches_bias", node="norm_bias", says="fetches `norm.bias`: `bias` should be fetched")
def fetches_the_bias_of_the_norm(model):
    return built(lambda graph, x: added(graph, x, "norm.bias"))


@wrong("nothing_detached", node="detach", says="cuts off gradients, but the expression does not")
def detaches_the_sum(model):
    return built(lambda graph, x: graph.call_method("detach", (added(graph, x),)))


@breaks("Return the `fx.Graph` or a `GraphModule` built from it.", case="the shifted norm")
@wrong("right kind", says="Your function returns nothing (None), not an fx.Graph or an fx.GraphModule")
def returns_nothing(model):
    built()


@wrong("same_result", node="output", says="The result is not the one asked for")
def adds_the_bias_twice(model):
    return built(lambda graph, x: graph.call_function(torch.add, (x, graph.get_attr("bias")), {"alpha": 2}))


@breaks("`norm(x + bias).tanh()`", case="the shifted norm")
@wrong("callers_input_stays", node="iadd", says="works in place: it changes the tensor passed as `x`", read=IN_PLACE)
def adds_in_place(model):
    return built(lambda graph, x: graph.call_function(operator.iadd, (x, graph.get_attr("bias"))))
