"""Answers to 00-layers-in-order."""

import operator

import numpy
import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong


@right
class ListensToTheTracer:
    """Records each call to a leaf while the tracer makes it, and reads no graph."""

    def __call__(self, model):
        called = []

        class Listening(fx.Tracer):
            def call_module(self, module, forward, args, kwargs):
                path = self.path_of_module(module)
                if self.is_leaf_module(module, path):
                    called.append(path)
                return super().call_module(module, forward, args, kwargs)

        Listening().trace(model)
        return called


@right
def walks_back_from_the_output(model):
    node = fx.symbolic_trace(model).graph.output_node()
    called = []
    while node.op != "root":
        if node.op == "call_module":
            called.append(node.target)
        node = node.prev
    return tuple(reversed(called))


class Path(str):
    """A qualified name whose length is the number of its parts."""

    __slots__ = ()

    def __len__(self):
        return self.count(".") + 1


@right
def fills_an_array_with_names_of_its_own_class(model):
    calls = fx.Tracer().trace(model).find_nodes(op="call_module")
    return numpy.array([Path(node.target) for node in calls], dtype=object)


@right
def maps_and_filters(model):
    calls = filter(lambda node: node.op == "call_module", fx.symbolic_trace(model).graph.nodes)
    return map(operator.attrgetter("target"), calls)


@breaks('For `Classifier` the answer is `["hidden", "head"]`.', case="the classifier")
@wrong("layers_in_order", says="`auxiliary` is in the answer, but `forward` never calls it")
def lists_every_layer_that_exists(model):
    return [name for name, module in model.named_modules() if not list(module.children())]


@breaks("Return the qualified names", case="a model that calls a layer twice")
@wrong("layers_in_order", says="`encode_0`, the name of the node; the qualified name is its target")
def returns_node_names(model):
    return [node.name for node in fx.symbolic_trace(model).graph.nodes if node.op == "call_module"]


@breaks("A layer that is called twice appears in your list twice.", case="a model that calls a layer twice")
@wrong("layers_in_order", says="`step` is in the answer once, but the model calls it 2 times")
def lists_each_layer_once(model):
    called = [node.target for node in fx.symbolic_trace(model).graph.nodes if node.op == "call_module"]
    return list(dict.fromkeys(called))


@breaks("the submodules that a model calls", case="the classifier")
@wrong("layers_in_order", says="`relu` is in the answer, but it is the target of a `call_method`, not a submodule")
def lists_every_call(model):
    skipped = ("placeholder", "output")
    return [str(node.target) for node in fx.symbolic_trace(model).graph.nodes if node.op not in skipped]


@breaks("in the order of the calls.", case="a model that calls a layer twice")
@wrong("layers_in_order", says="item 0 of the answer is `decode`: the model calls `encode.0` first")
def keeps_the_order_of_definition(model):
    called = [node.target for node in fx.symbolic_trace(model).graph.nodes if node.op == "call_module"]
    return [name for name, _ in model.named_modules() for _ in range(called.count(name))]


@breaks("neither does a container", case="a model that calls a layer twice")
@wrong("layers_in_order", says="`encode`, a container, whose call is not recorded")
def stops_at_containers(model):
    class Shallow(fx.Tracer):
        def is_leaf_module(self, module, path):
            return True

    return [node.target for node in Shallow().trace(model).nodes if node.op == "call_module"]


@breaks("qualified names of the submodules", case="the classifier")
@wrong("layers_in_order", says="The list contains an object of class Linear where a name should be")
def returns_the_layers_themselves(model):
    traced = fx.symbolic_trace(model)
    return [traced.get_submodule(node.target) for node in traced.graph.nodes if node.op == "call_module"]


@wrong("ends well", says="mat1 and mat2 shapes cannot be multiplied")
def runs_an_input_of_the_known_width(model):
    """Puts a hook on every layer, and passes an input that fits the classifier."""
    called = []
    for name, module in model.named_modules():
        if not isinstance(module, nn.Sequential) and name:
            module.register_forward_hook(lambda _module, _inputs, _output, name=name: called.append(name))
    model(torch.rand(1, 4))
    return called


@breaks("a container that tracing enters.", case="a model with a layer that contains another")
@wrong("layers_in_order", says="`attention` is not in the answer, but the model calls it")
def skips_modules_with_children(model):
    traced = fx.symbolic_trace(model)
    called = [node.target for node in traced.graph.nodes if node.op == "call_module"]
    return [target for target in called if not list(traced.get_submodule(target).children())]


@breaks("the submodules that a model calls", case="a model with a layer whose result is unused")
@wrong("layers_in_order", says="`start` is not in the answer, but the model calls it")
def follows_the_input_forward(model):
    graph = fx.symbolic_trace(model).graph
    reached = set(graph.find_nodes(op="placeholder"))
    for node in graph.nodes:
        if not reached.isdisjoint(node.all_input_nodes):
            reached.add(node)
    return [node.target for node in graph.nodes if node in reached and node.op == "call_module"]


@breaks("A layer that is never called does not appear", case="a model with a layer whose result is unused")
@wrong("layers_in_order", says="`spare` is in the answer, but `forward` never calls it")
def lists_every_target_that_names_a_layer(model):
    paths = [name for name, _ in model.named_modules()]
    return [node.target for node in fx.symbolic_trace(model).graph.nodes if node.target in paths]
