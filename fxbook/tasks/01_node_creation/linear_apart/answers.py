"""Answers to 01-linear-apart."""

import copy

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

NOT_THERE = "when_it_breaks/01_node_creation#references-nonexistent-attribute"
NO_ARGUMENT = "01_node_creation#a-tensor-is-not-an-argument"


@right
def multiplies_the_matrices(linear):
    """x @ weight.T + bias; the root is a dict, which contains the bias if there is one."""
    graph = fx.Graph()
    x, weight = graph.placeholder("x"), graph.get_attr("weight")
    value = graph.call_function(torch.matmul, (x, graph.call_method("t", (weight,))))
    if linear.bias is not None:
        value = graph.call_function(torch.add, (value, graph.get_attr("bias")))
    graph.output(value)
    return fx.GraphModule(dict(linear.named_parameters()), graph)


@right
def traces_the_layer_as_the_root(linear):
    """Tracing enters the root, even if it is a layer of torch."""
    return fx.symbolic_trace(linear)


@right
def traces_a_module_that_writes_it_out(linear):
    class WrittenOut(nn.Module):
        def __init__(self):
            super().__init__()
            self.matrix, self.offset = linear.weight, linear.bias

        def forward(self, features):
            return nn.functional.linear(features, self.matrix, self.offset)

    return fx.symbolic_trace(WrittenOut())


@right
class EntersTheLayerInATrace:
    """A tracer for which a linear layer inside another module is not a leaf."""

    def __call__(self, linear):
        class Entering(fx.Tracer):
            def is_leaf_module(self, module, path):
                return False

        around = nn.Sequential(linear)
        return fx.GraphModule(around, Entering().trace(around))


def built(root, arguments):
    """A module that calls nn.functional.linear on its input and the nodes that ``arguments`` makes."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(nn.functional.linear, (x, *arguments(graph))))
    return fx.GraphModule(root, graph)


@breaks("without calling the layer.", case="a linear layer")
@wrong("no_module_called", node="linear", says="calls the module `linear`")
def calls_the_layer(linear):
    graph = fx.Graph()
    graph.output(graph.call_module("linear", (graph.placeholder("x"),)))
    return fx.GraphModule({"linear": linear}, graph)


@breaks("The `bias` of a layer created with `bias=False` is `None`.", case="a linear layer without a bias")
@wrong("lints", node="bias", says="nonexistent attribute bias", read=NOT_THERE)
def fetches_a_bias_that_is_none(linear):
    return built(linear, lambda graph: (graph.get_attr("weight"), graph.get_attr("bias")))


@wrong("tensor_free", node="linear", says="has a tensor among its arguments", read=NO_ARGUMENT)
def passes_the_weights_as_arguments(linear):
    return built({}, lambda graph: (linear.weight, linear.bias))


@breaks("The parameters must be the layer's own, not copies", case="a linear layer")
@wrong("shares_weights", node="weight", says="`weight` is not the object that the model holds")
def takes_a_copy_of_the_layer(linear):
    names = [name for name, _ in linear.named_parameters()]
    return built(copy.deepcopy(linear), lambda graph: map(graph.get_attr, names))


@breaks("computes the same", case="a linear layer")
@wrong("fetches_each_weight", says="No node fetches the layer's `bias`")
def forgets_the_bias(linear):
    return built(linear, lambda graph: (graph.get_attr("weight"),))


@breaks("Return a `GraphModule`:", case="a linear layer")
@wrong("right kind", says="Your function returns an object of class Graph, not an fx.GraphModule")
def returns_a_bare_graph(linear):
    return fx.symbolic_trace(linear).graph


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def fills_the_graph_after_it_was_wrapped(linear):
    module = fx.GraphModule(linear, fx.Graph())
    module.weight, module.bias = linear.weight, linear.bias
    graph = module.graph
    x, weight = graph.placeholder("x"), graph.get_attr("weight")
    bias = None if linear.bias is None else graph.get_attr("bias")
    graph.output(graph.call_function(nn.functional.linear, (x, weight, bias)))
    return module


@breaks("without calling the layer.", case="a linear layer")
@wrong("all_in_sight", node="run", says="Node `run` calls a function that holds a torch.nn.Linear")
def hides_the_layer_in_a_function(linear):
    """The result is right, but the weights are not in the graph."""

    def run(value):
        return linear(value)

    graph = fx.Graph()
    graph.output(graph.call_function(run, (graph.placeholder("x"),)))
    return fx.GraphModule(linear, graph)


@wrong("has_node", says="The graph has no `output` node", read="when_it_breaks/01_node_creation#no-output-node")
def forgets_the_output(linear):
    graph = fx.Graph()
    x, weights = graph.placeholder("x"), [graph.get_attr(name) for name, _ in linear.named_parameters()]
    graph.call_function(nn.functional.linear, (x, *weights))
    return fx.GraphModule(linear, graph)


@wrong("no_dead_nodes", node="t", says="is dead: no node uses its result")
def transposes_the_weight_for_nothing(linear):
    graph = fx.Graph()
    x, weights = graph.placeholder("x"), [graph.get_attr(name) for name, _ in linear.named_parameters()]
    graph.call_method("t", (weights[0],))
    graph.output(graph.call_function(nn.functional.linear, (x, *weights)))
    return fx.GraphModule(linear, graph)


@breaks("The input can have any number of dimensions.", case="an input with four dimensions")
@wrong("same_result", node="addmm", says="must be a matrix, got 4-D tensor")
def multiplies_matrices_only(linear):
    graph = fx.Graph()
    x, weight = graph.placeholder("x"), graph.call_method("t", (graph.get_attr("weight"),))
    bias = 0.0 if linear.bias is None else graph.get_attr("bias")
    if linear.bias is None:
        graph.output(graph.call_function(torch.mm, (x, weight)))
    else:
        graph.output(graph.call_function(torch.addmm, (bias, x, weight)))
    return fx.GraphModule(linear, graph)


@breaks("The parameters must be the layer's own", case="a linear layer without a bias")
@wrong("no_other_weights", node="bias", says="node `bias` fetches `bias`, which is not a parameter of the layer")
def makes_a_bias_of_zeros(linear):
    weights = {"weight": linear.weight, "bias": linear.bias}
    if linear.bias is None:
        weights["bias"] = nn.Parameter(torch.zeros(linear.out_features))
    return built(weights, lambda graph: map(graph.get_attr, weights))


@wrong("holds_each_weight", says="The result does not hold the layer's parameter `weight` itself")
def transposes_the_weight_in_advance(linear):
    """The buffer shares the weight's memory and gradients, but an optimizer of the result never gets the weight."""
    graph = fx.Graph()
    value = graph.call_function(torch.matmul, (graph.placeholder("x"), graph.get_attr("transposed")))
    if linear.bias is not None:
        value = graph.call_function(torch.add, (value, graph.get_attr("bias")))
    graph.output(value)
    return fx.GraphModule({"transposed": linear.weight.t(), "bias": linear.bias}, graph)


@breaks("and must get the same gradients.", case="an input with one dimension, a bias of zeros")
@wrong("gradients_kept", says="the result is right, but `bias` gets no gradient")
def leaves_out_a_bias_of_zeros(linear):
    has_bias = linear.bias is not None and linear.bias.any()
    names = ("weight", "bias") if has_bias else ("weight",)
    return built(linear, lambda graph: map(graph.get_attr, names))
