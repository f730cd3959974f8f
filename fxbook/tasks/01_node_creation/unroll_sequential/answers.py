"""Answers to 01-unroll-sequential."""

import copy
import functools
import operator

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from fxbook.tasks.answering import breaks, right, wrong

IN_PLACE = "01_node_creation#four-spellings-of-add"
NOT_THERE = "when_it_breaks/01_node_creation#references-nonexistent-attribute"
NO_ARGUMENT = "01_node_creation#a-tensor-is-not-an-argument"


def weights_of(graph, path, layer):
    """Nodes that fetch a layer's weight and bias; None for one that the layer lacks."""
    names = ("weight", "bias")
    return [None if getattr(layer, name) is None else graph.get_attr(f"{path}.{name}") for name in names]


def call(graph, value, layer, weights, eps=None, slope=None):
    """A node that calls the layer's function."""
    if isinstance(layer, nn.Linear):
        return graph.call_function(nn.functional.linear, (value, *weights))
    if isinstance(layer, nn.LayerNorm):
        settings = (layer.normalized_shape, *weights, *([] if eps is None else [eps]))
        return graph.call_function(nn.functional.layer_norm, (value, *settings))
    return graph.call_function(nn.functional.leaky_relu, (value, *([] if slope is None else [slope])))


def settings_of(layer):
    return {"eps": getattr(layer, "eps", None), "slope": getattr(layer, "negative_slope", None)}


def all_layers(model):
    named = model.named_modules(remove_duplicate=False)
    return [(path, layer) for path, layer in named if not isinstance(layer, nn.Sequential)]


def edited_trace(model):
    """The trace of a model with a function in place of each layer, not yet recompiled.

    A trace has one path for a layer that occurs twice, so new modules at both paths hold its parameters.
    """
    traced = fx.symbolic_trace(model)
    for node, (path, layer) in zip(traced.graph.find_nodes(op="call_module"), all_layers(model), strict=True):
        home = nn.Module()
        for name, parameter in layer.named_parameters():
            home.register_parameter(name, parameter)
        with traced.graph.inserting_before(node):
            weights = weights_of(traced.graph, path, layer) if hasattr(layer, "bias") else ()
            new = call(traced.graph, node.args[0], layer, weights, **settings_of(layer))
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
        traced.add_submodule(path, home)
    return traced


@right
def recurses_with_proxies(model):
    """Calls functions on proxies, and recurses into each inner Sequential."""
    graph = fx.Graph()
    tracer = fx.proxy.GraphAppendingTracer(graph)

    def fetched(path, parameter):
        return None if parameter is None else fx.Proxy(graph.get_attr(path), tracer)

    def run(block, prefix, value):
        for name, layer in block._modules.items():
            path = f"{prefix}{name}"
            if isinstance(layer, nn.Sequential):
                value = run(layer, f"{path}.", value)
            elif isinstance(layer, nn.LeakyReLU):
                value = nn.functional.leaky_relu(value, negative_slope=layer.negative_slope)
            else:
                weight, bias = fetched(f"{path}.weight", layer.weight), fetched(f"{path}.bias", layer.bias)
                if isinstance(layer, nn.Linear):
                    value = nn.functional.linear(value, weight, bias)
                else:
                    value = nn.functional.layer_norm(value, layer.normalized_shape, weight, bias, layer.eps)
        return value

    graph.output(run(model, "", fx.Proxy(graph.placeholder("x"), tracer)).node)
    return fx.GraphModule(model, graph)


@right
def dispatches_on_the_class(model):
    graph = fx.Graph()

    @functools.singledispatch
    def chain(layer, path, value):
        raise TypeError(f"no function for {path}: {layer}")

    @chain.register
    def _(layer: nn.Sequential, path, value):
        for name, inner in layer._modules.items():
            value = chain(inner, f"{path}{name}.", value)
        return value

    @chain.register
    def _(layer: nn.Linear, path, value):
        return graph.call_function(nn.functional.linear, (value, *weights_of(graph, path[:-1], layer)))

    @chain.register
    def _(layer: nn.LayerNorm, path, value):
        settings = (layer.normalized_shape, *weights_of(graph, path[:-1], layer), layer.eps)
        return graph.call_function(torch.layer_norm, (value, *settings))

    @chain.register
    def _(layer: nn.LeakyReLU, path, value):
        return graph.call_function(nn.functional.leaky_relu, (value,), {"negative_slope": layer.negative_slope})

    graph.output(chain(model, "", graph.placeholder("x")))
    return fx.GraphModule(model, graph)


@right
def writes_each_function_out(model):
    """Uses products, means and ``torch.where`` in place of ``linear``, ``layer_norm`` and ``leaky_relu``."""
    graph = fx.Graph()

    def run(function, *arguments, **named):
        return graph.call_function(function, arguments, named)

    value = graph.placeholder("x")
    for path, layer in all_layers(model):
        weight, bias = weights_of(graph, path, layer) if hasattr(layer, "bias") else (None, None)
        if isinstance(layer, nn.Linear):
            value = run(torch.matmul, value, run(torch.transpose, weight, 0, 1))
        elif isinstance(layer, nn.LayerNorm):
            over = tuple(range(-len(layer.normalized_shape), 0))
            centred = run(torch.sub, value, run(torch.mean, value, over, keepdim=True))
            variance = run(torch.var, value, over, correction=0, keepdim=True)
            value = run(torch.mul, centred, run(torch.rsqrt, run(torch.add, variance, layer.eps)))
            value = run(torch.mul, value, weight) if weight is not None else value
        elif isinstance(layer, nn.LeakyReLU):
            positive = run(torch.gt, value, 0)
            value = run(torch.where, positive, value, run(torch.mul, value, layer.negative_slope))
        if bias is not None:
            value = run(torch.add, value, bias)
    graph.output(value)
    return fx.GraphModule(model, graph)


@right
def edits_a_trace_and_returns_a_pass_result(model):
    traced = edited_trace(model)
    traced.recompile()
    return PassResult(traced, True)


def unrolled(model, layers=None, root=None, fetch=weights_of, settings=settings_of):
    """A graph that calls the function of each layer in turn, with parameters for its parts."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for path, layer in layers or all_layers(model):
        weights = fetch(graph, path, layer) if hasattr(layer, "bias") else ()
        value = call(graph, value, layer, weights, **settings(layer))
    graph.output(value)
    return fx.GraphModule(model if root is None else root, graph)


@breaks("Return a GraphModule that computes model(x) with functions only.", case="the MLP")
@wrong("no_module_called", node="call", says="calls the module `0`")
def fetches_each_layer_and_calls_it(model):
    graph = fx.Graph()
    value = graph.placeholder("x")
    for path, _ in all_layers(model):
        value = graph.call_function(operator.call, (graph.get_attr(path), value))
    graph.output(value)
    return fx.GraphModule(model, graph)


@breaks("and is then called twice.", case="the nested model")
@wrong("each_layer_called", says="layer `2` is an earlier layer, called again")
def drops_a_layer_that_occurs_twice(model):
    return unrolled(model, [layer for layer in model.named_modules() if layer in all_layers(model)])


@wrong("lints", node="_0_weight", says="nonexistent attribute", read=NOT_THERE)
def fetches_missing_weights(model):
    def fetch(graph, path, layer):
        return graph.get_attr(f"{path}.weight"), graph.get_attr(f"{path}.bias")

    return unrolled(model, fetch=fetch)


@wrong("tensor_free", node="linear", says="has a tensor among its arguments", read=NO_ARGUMENT)
def passes_the_parameters_as_arguments(model):
    return unrolled(model, fetch=lambda graph, path, layer: (layer.weight, layer.bias))


@breaks("The parameters must be the model's own", case="the MLP")
@wrong("shares_weights", node="_0_weight", says="`0.weight` is not the object that the model holds")
def copies_the_model(model):
    return unrolled(model, root=copy.deepcopy(model))


@breaks("so that a checkpoint of the model loads into the result", case="the nested model")
@wrong("keeps_names", says="the result has no parameter")
def lets_the_tracer_enter_every_layer(model):
    """A layer that occurs twice has one qualified name in a trace, but two in a checkpoint."""

    class Deeper(fx.Tracer):
        def is_leaf_module(self, module, path):
            return False

    return fx.GraphModule(model, Deeper().trace(model))


@breaks("that uses only the opcodes", case="the MLP")
@wrong("opcodes", node="contiguous", says="Node `contiguous` is a `call_method`, which the task does not ask for")
def calls_a_method_on_each_weight(model):
    def fetch(graph, path, layer):
        weight, bias = weights_of(graph, path, layer)
        return weight and graph.call_method("contiguous", (weight,)), bias

    return unrolled(model, fetch=fetch)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def edits_a_trace_and_forgets_to_recompile(model):
    return edited_trace(model)


@breaks("The model contains `nn.Linear`", case="the MLP")
@wrong("fetches_each_weight", says="No call uses the model's `0.bias`")
def forgets_the_biases(model):
    def fetch(graph, path, layer):
        weight, _ = weights_of(graph, path, layer)
        return weight, None

    return unrolled(model, fetch=fetch)


@wrong("has_node", says="The graph has no `output` node", read="when_it_breaks/01_node_creation#no-output-node")
def forgets_the_output(model):
    module = unrolled(model)
    module.graph.erase_node(module.graph.output_node())
    module.recompile()
    return module


@wrong("no_dead_nodes", node="_1_0_weight", says="is dead: no node uses its result")
def fetches_every_parameter_at_the_top(model):
    """Looks nodes up by parameter, so a layer that occurs twice uses only the node for its second name."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    fetched = {id(each): graph.get_attr(name) for name, each in model.named_parameters(remove_duplicate=False)}
    for _, layer in all_layers(model):
        weights = [fetched.get(id(layer._parameters.get(name))) for name in ("weight", "bias")]
        value = call(graph, value, layer, weights, **settings_of(layer))
    graph.output(value)
    return fx.GraphModule(model, graph)


@breaks("must get the same gradient.", case="the MLP")
@wrong("gradients_kept", node="detach", says="The result is right, but `0.weight` gets no gradient: node `detach` cuts")
def detaches_each_weight(model):
    def fetch(graph, path, layer):
        weight, bias = weights_of(graph, path, layer)
        return weight and graph.call_function(torch.detach, (weight,)), bias

    return unrolled(model, fetch=fetch)


@breaks("`negative_slope` differ from the defaults.", case="the MLP")
@wrong("settings_kept", node="leaky_relu", says="does not have the `negative_slope` of layer `2`")
def takes_the_default_slope(model):
    return unrolled(model, settings=lambda layer: {"eps": getattr(layer, "eps", None)})


@breaks("nested to any depth.", case="the nested model")
@wrong("each_layer_called", says="3 calls to linear, but the model has 4: layer `1.2.mix` is inside another")
def enters_only_one_level(model):
    return unrolled(model, [(path, layer) for path, layer in all_layers(model) if path.count(".") < 2])


@wrong("same_result", node="output", says="the result is not the one asked for")
def takes_the_larger_of_the_value_and_its_multiple(model):
    """Right for a slope up to one."""
    module = unrolled(model)
    for node in module.graph.find_nodes(op="call_function", target=nn.functional.leaky_relu):
        value, slope = node.args
        with module.graph.inserting_before(node):
            multiple = module.graph.call_function(torch.mul, (value, slope))
        node.target, node.args = torch.maximum, (value, multiple)
    module.recompile()
    return module


@wrong("weights_in_their_places", node="layer_norm", says="has `1.bias` as its weight")
def swaps_weight_and_bias_of_a_norm(model):
    def fetch(graph, path, layer):
        weight, bias = weights_of(graph, path, layer)
        return (bias, weight) if isinstance(layer, nn.LayerNorm) else (weight, bias)

    return unrolled(model, fetch=fetch)


@wrong("all_in_sight", node="forward", says="Node `forward` calls a function that holds a torch.nn.Sequential")
def calls_one_function_that_holds_the_model(model):
    def forward(x):
        return model(x)

    graph = fx.Graph()
    graph.output(graph.call_function(forward, (graph.placeholder("x"),)))
    return fx.GraphModule(model, graph)


@breaks("computes model(x) with functions only", case="settings of zero, a norm over two dimensions")
@wrong("callers_input_stays", node="leaky_relu", says="works in place: it changes the tensor passed as", read=IN_PLACE)
def calls_each_activation_in_place(model):
    module = unrolled(model)
    for node in module.graph.find_nodes(op="call_function", target=nn.functional.leaky_relu):
        node.args = (*node.args, True)
    module.recompile()
    return module
