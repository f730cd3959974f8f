"""Answers to 00-relu-to-gelu."""

import copy

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

NO_METHOD = "00_first_graph#attributeerror-tensor-object-has-no-attribute-gelu"
A_STR = "00_first_graph#valueerror-node-relu-target--has-type--but-a-str-is-expected"
UNEXPECTED = "when_it_breaks/00_first_graph#typeerror-gelu-got-an-unexpected-keyword-argument-inplace"
FUNCTIONS = (torch.relu, nn.functional.relu)


def is_relu(node, traced):
    match node.op:
        case "call_method":
            return node.target == "relu"
        case "call_function":
            return node.target in FUNCTIONS
        case "call_module":
            return isinstance(traced.get_submodule(node.target), nn.ReLU)
        case _:
            return False


def value_of(args, kwargs):
    """The value passed to relu, by position or by name."""
    return args[0] if args else kwargs["input"]


def to_gelu(node):
    node.args, node.kwargs = (value_of(node.args, node.kwargs),), {}
    node.op, node.target = "call_function", nn.functional.gelu


class AsATransformer(fx.Transformer):
    """Makes the new graph while it runs the old one."""

    def call_function(self, target, args, kwargs):
        if target in FUNCTIONS:
            return nn.functional.gelu(value_of(args, kwargs))
        return super().call_function(target, args, kwargs)

    def call_method(self, target, args, kwargs):
        return nn.functional.gelu(args[0]) if target == "relu" else super().call_method(target, args, kwargs)

    def call_module(self, target, args, kwargs):
        if isinstance(self.submodules[target], nn.ReLU):
            return nn.functional.gelu(value_of(args, kwargs))
        return super().call_module(target, args, kwargs)


@right
def transforms(model):
    return AsATransformer(fx.symbolic_trace(model)).transform()


@right
def writes_gelu_while_it_traces(model):
    class Writing(fx.Tracer):
        def is_leaf_module(self, module, path):
            return not isinstance(module, nn.ReLU) and super().is_leaf_module(module, path)

        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            if (kind, target) == ("call_method", "relu") or target in FUNCTIONS:
                kind, target = "call_function", nn.functional.gelu
                args, kwargs = (value_of(args, kwargs),), {}
            return super().create_node(kind, target, args, kwargs, name, type_expr)

    return fx.GraphModule(model, Writing().trace(model))


@right
def copies_node_by_node(model):
    traced = fx.symbolic_trace(model)
    graph, copied = fx.Graph(), {}
    for node in traced.graph.nodes:
        if is_relu(node, traced):
            value = copied[value_of(node.args, node.kwargs)]
            copied[node] = graph.call_function(nn.functional.gelu, (value,))
        else:
            copied[node] = graph.node_copy(node, lambda old: copied[old])
    return fx.GraphModule(traced, graph)


@right
def swaps_the_modules_of_a_copy_that_shares_its_parameters(model):
    memo = {id(parameter): parameter for parameter in model.parameters()}
    twin = copy.deepcopy(model, memo)
    for name, module in list(twin.named_modules()):
        if isinstance(module, nn.ReLU):
            twin.set_submodule(name, nn.GELU())
    traced = fx.symbolic_trace(twin)
    for node in traced.graph.nodes:
        if node.op != "call_module" and is_relu(node, traced):
            to_gelu(node)
    traced.recompile()
    return traced


def changed(model, change=to_gelu, matches=is_relu, compiled=True):
    """The solution, with parameters for its parts."""
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if matches(node, traced):
            change(node)
    if compiled:
        traced.recompile()
    return traced


def replace(node, make):
    """Replace the node with one that ``make`` adds to the graph before it."""
    with node.graph.inserting_before(node):
        new = make(node.graph)
    node.replace_all_uses_with(new)
    node.graph.erase_node(node)


@wrong("recompiled", says="the compiled code is stale")
def forgets_to_recompile(model):
    return changed(model, compiled=False)


@breaks("and a submodule `nn.ReLU()`.", case="an MLP with four spellings")
@wrong("none_left", node="activation", says="still calls relu")
def forgets_the_module(model):
    return changed(model, matches=lambda node, traced: node.op != "call_module" and is_relu(node, traced))


@breaks("write ReLU in four ways:", case="the classifier")
@wrong("methods_exist", node="relu", says="calls the method `gelu`, which tensors do not have", read=NO_METHOD)
def calls_a_method_gelu(model):
    def change(node):
        if node.op == "call_method":
            node.target = "gelu"
        else:
            to_gelu(node)

    return changed(model, change)


@wrong("target_fits_op", node="relu", says="is a `call_method`, but its target is a function", read=A_STR)
def forgets_the_opcode(model):
    def change(node):
        node.target, node.kwargs = nn.functional.gelu, {}

    return changed(model, change, compiled=False)


@wrong("no_keyword_of_relu", node="relu_2", says="the keyword `inplace`, which gelu does not take", read=UNEXPECTED)
def keeps_the_keywords(model):
    def change(node):
        node.op, node.target = "call_function", nn.functional.gelu

    return changed(model, change)


@breaks("Some calls pass the value by name, as `input=x`.", case="calls that pass the value by name")
@wrong("gelu_gets_a_value", node="relu", says="calls gelu without an argument", read=UNEXPECTED)
def empties_the_keywords(model):
    """This also removes a value that is passed by name."""

    def change(node):
        node.op, node.target, node.kwargs = "call_function", nn.functional.gelu, {}

    return changed(model, change)


@breaks("The layers and parameters of the model must not change", case="an MLP with four spellings")
@wrong("input_unchanged", says="`activation` is a different object")
def swaps_the_modules_of_the_model(model):
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.GELU())
    return changed(model)


@breaks("the result must share the parameters of the model.", case="the classifier")
@wrong("shares_weights", node="temperature", says="`temperature` is not the object that the model holds")
def copies_the_model_first(model):
    return changed(copy.deepcopy(model))


@breaks("Other functions, such as `nn.functional.leaky_relu`, stay as they are.", case="a residual network")
@wrong("others_stay", says="node `leaky_relu` is gone, but should have stayed: `torch.nn.functional.leaky_relu(")
def replaces_every_function_with_relu_in_its_name(model):
    def matches(node, traced):
        return is_relu(node, traced) or (node.op == "call_function" and "relu" in node.target.__name__)

    return changed(model, matches=matches)


@wrong("no_dead_nodes", node="relu", says="is dead: no node uses its result")
def leaves_the_old_nodes(model):
    def change(node):
        with node.graph.inserting_before(node):
            node.replace_all_uses_with(node.graph.call_function(nn.functional.gelu, node.args[:1]))

    return changed(model, change)


@wrong("lints", node="gelu", says="node `gelu` uses itself", read="02_insertion_points#replace-uses-without-a-cycle")
def passes_the_replaced_node_to_its_replacement(model):
    return changed(model, lambda node: replace(node, lambda graph: graph.call_function(nn.functional.gelu, (node,))))


@breaks("returns a GraphModule that computes GELU", case="the classifier")
@wrong("calls", says="No node calls gelu")
def computes_an_approximation_with_a_sigmoid(model):
    """Uses a product that is close to GELU, but is a different function."""

    def make(node):
        x = fx.Proxy(node.args[0])
        return (x * torch.sigmoid(x * 1.702)).node

    return changed(model, lambda node: replace(node, lambda graph: make(node)))


@wrong("exact_gelu", node="relu", says="computes an approximation, not `nn.functional.gelu(x)`")
def approximates_by_tanh(model):
    """Uses an option of gelu that gives a close result."""

    def change(node):
        to_gelu(node)
        node.kwargs = {"approximate": "tanh"}

    return changed(model, change)


@breaks("Some have `inplace=True`", case="a residual network")
@wrong("none_left", node="enter_1", says="still calls relu")
def skips_what_works_in_place(model):
    def matches(node, traced):
        module = traced.get_submodule(node.target) if node.op == "call_module" else None
        return is_relu(node, traced) and not node.kwargs.get("inplace") and not (module and module.inplace)

    return changed(model, matches=matches)


@wrong(
    "defaults_kept",
    read="07_placeholder#add-move-and-remove-inputs",
    node="shift",
    says="node `shift` has lost its default",
)
def makes_the_inputs_again(model):
    traced = fx.symbolic_trace(model)
    graph, copied = fx.Graph(), {}
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            copied[node] = graph.placeholder(node.target)
        elif is_relu(node, traced):
            copied[node] = graph.call_function(nn.functional.gelu, (copied[value_of(node.args, node.kwargs)],))
        else:
            copied[node] = graph.node_copy(node, copied.__getitem__)
    return fx.GraphModule(model, graph)


@wrong("same_result", node="head", says="Running the result raises RuntimeError: mat1 and mat2 shapes cannot be")
def passes_the_input_of_the_layer_before(model):
    def change(node):
        to_gelu(node)
        node.args = node.args[0].args[:1]

    return changed(model, change)
