"""Answers to 11-train-through-it: a backend that replaces an activation, with the gradients of the new one."""

import torch
from functorch.compile import make_boxed_func
from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch.nn import functional

from fxbook.tasks.answering import breaks, right, wrong

aten, GATED = torch.ops.aten, "a gated block"


def swap(module, old=functional.silu, new=functional.hardswish):
    for node in module.graph.nodes:
        if node.target is old:
            node.target = new
    module.recompile()
    return module


def plain(module, example_inputs):
    return make_boxed_func(module.forward)


@right
def makes_new_nodes(module, example_inputs):
    for node in module.graph.find_nodes(op="call_function", target=functional.silu):
        with module.graph.inserting_before(node):
            new = module.graph.call_function(functional.hardswish, node.args, node.kwargs)
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
    module.graph.lint()
    module.recompile()
    return module.forward


@right
def replaces_with_a_transformer(module, example_inputs):
    class Replacing(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(functional.hardswish if target is functional.silu else target, args, kwargs)

    return Replacing(module).transform()


@right
def copies_into_a_new_graph(module, example_inputs):
    graph = fx.Graph()
    copied = {}
    graph.output(graph.graph_copy(module.graph, copied))
    return swap(fx.GraphModule(module, graph)).forward


@right
def defines_the_function(module, example_inputs):
    def hardswish(input, inplace=False):
        kept = input.clone()
        result = kept * torch.clamp(kept + 3, 0, 6) / 6
        return input.copy_(result) if inplace else result

    return swap(module, new=hardswish).forward


@breaks("the gradients are those of the new function.", case=GATED)
@wrong("has_its_gradients", says="but the gradient of `l_self_modules_gate_parameters_weight_` is not that of")
def edits_only_the_forward_graph(module, example_inputs):
    def forward_graph(module, example_inputs):
        return plain(swap(module, aten.silu.default, aten.hardswish.default), example_inputs)

    return aot_autograd(fw_compiler=forward_graph, bw_compiler=plain)(module, example_inputs)


@breaks("A backend returns a function", case=GATED)
@wrong("returns_a_function_of_tuples", says="The backend returns an object of class NoneType: it should return a")
def returns_nothing(module, example_inputs):
    swap(module)


@breaks("a tuple or a list", case=GATED)
@wrong("returns_a_function_of_tuples", says="The function returns Tensor: it should return a tuple or a list")
def returns_the_first_output(module, example_inputs):
    edited = swap(module)
    return lambda *inputs: edited(*inputs)[0]


@breaks("with an item for each output.", case=GATED)
@wrong("returns_a_function_of_tuples", says="The function returns 1 item, but the graph has 2 outputs.")
def returns_one_of_two_outputs(module, example_inputs):
    edited = swap(module)
    return lambda *inputs: edited(*inputs)[:1]


@breaks("replaces each `nn.functional.silu` with `nn.functional.hardswish`", case=GATED)
@wrong("computes_the_new_function", says="still calls `silu`: every call should be replaced")
def replaces_the_first_alone(module, example_inputs):
    node = next(iter(module.graph.find_nodes(op="call_function", target=functional.silu)), None)
    if node is not None:
        node.target = functional.hardswish
    module.recompile()
    return module.forward


@breaks("that takes the inputs as separate arguments", case=GATED)
@wrong(
    "ends well",
    says="takes 2 positional arguments",
    read="when_it_breaks/08_boxed_run#typeerror-interpreterboxed_run-takes-2-positional-arguments-but-4-were-given",
)
def returns_a_boxed_function(module, example_inputs):
    """Dynamo passes the inputs one by one; only AOTAutograd passes them in a list."""
    return fx.Interpreter(swap(module)).boxed_run


@breaks("so that the results and the gradients are those of the new function.", case=GATED)
@wrong("computes_the_new_function", says="works in place, but its replacement does not: a later node uses")
def drops_inplace(module, example_inputs):
    for node in module.graph.find_nodes(op="call_function", target=functional.silu):
        node.kwargs = {key: value for key, value in node.kwargs.items() if key != "inplace"}
    return swap(module).forward
