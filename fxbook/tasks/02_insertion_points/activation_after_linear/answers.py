"""Answers to 02-activation-after-linear."""

import copy

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

NEEDS_A_USER = "02_insertion_points#a-new-node-needs-a-user"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"
NO_METHOD = "00_first_graph#attributeerror-tensor-object-has-no-attribute-gelu"


def is_layer(traced, node, layer, function):
    if node.op == "call_module":
        return isinstance(traced.get_submodule(node.target), layer)
    return node.op == "call_function" and node.target is function


def edited(model, is_meant, activation, users=lambda node: list(node.users), compiled=True, trace=fx.symbolic_trace):
    """The traced model, in which the users of each chosen node use the activation of its result instead."""
    traced = trace(model)
    for node in list(traced.graph.nodes):
        if is_meant(traced, node):
            old = users(node)
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(activation, (node,))
            for user in old:
                user.replace_input_with(node, new)
    if compiled:
        traced.recompile()
    return traced


def inputs_of(traced):
    return traced.graph.find_nodes(op="placeholder")


def node_of(value):
    return value.node if isinstance(value, fx.Proxy) else value


@right
def transforms_as_it_runs(model, layer, function, activation):
    """A Transformer, which calls the activation on proxies."""

    class Activating(fx.Transformer):
        def call_module(self, target, args, kwargs):
            value = super().call_module(target, args, kwargs)
            return activation(value) if isinstance(self.fetch_attr(target), layer) else value

        def call_function(self, target, args, kwargs):
            value = super().call_function(target, args, kwargs)
            return activation(value) if target is function else value

    return Activating(fx.symbolic_trace(model)).transform()


@right
class CopiesNodeByNode:
    """Copies the graph; a copied user of a layer uses the activation."""

    def __call__(self, model, layer, function, activation):
        traced = fx.symbolic_trace(model)
        graph, value_of = fx.Graph(), {}
        for node in traced.graph.nodes:
            value_of[node] = graph.node_copy(node, value_of.__getitem__)
            if is_layer(traced, node, layer, function):
                value_of[node] = graph.call_function(activation, (value_of[node],))
        graph.lint()
        return fx.GraphModule(traced, graph)


@right
def excludes_the_new_node(model, layer, function, activation):
    """Replaces all uses except the new node's own."""
    traced = fx.symbolic_trace(model)
    found = traced.graph.find_nodes(op="call_function", target=function)
    calls = traced.graph.find_nodes(op="call_module")
    found += [node for node in calls if isinstance(traced.get_submodule(node.target), layer)]
    for node in found:
        with traced.graph.inserting_before(node.next):
            new = activation(fx.Proxy(node)).node
        node.replace_all_uses_with(new, delete_user_cb=lambda user, new=new: user is not new)
    traced.recompile()
    return traced


@right
class RunsItOnProxies:
    """An Interpreter that runs on proxies and so records every node in a new graph."""

    def __call__(self, model, layer, function, activation):
        class Activating(fx.Interpreter):
            def run_node(self, node):
                value = super().run_node(node)
                return activation(value) if is_layer(self.module, node, layer, function) else value

            def call_module(self, target, args, kwargs):
                [value, *rest] = args
                return value.tracer.create_proxy("call_module", target, (value, *rest), kwargs)

            def get_attr(self, target, args, kwargs):
                return tracer.create_proxy("get_attr", target, args, kwargs)

        traced = fx.symbolic_trace(model)
        graph = fx.Graph()
        tracer = fx.proxy.GraphAppendingTracer(graph)
        inputs = [tracer.create_proxy("placeholder", node.target, node.args, {}) for node in inputs_of(traced)]
        graph.output(fx.node.map_aggregate(Activating(traced).run(*inputs), node_of))
        return fx.GraphModule(traced, graph)


@breaks("and it counts as the layer.", case="a traced model with a subclass in `torch.nn`")
@wrong("followed_by_activation", node="out_proj", says="is not followed by relu")
def compares_the_class_itself(model, layer, function, activation):
    def is_meant(traced, node):
        return node.target is function or (
            node.op == "call_module" and type(traced.get_submodule(node.target)) is layer
        )

    return edited(model, is_meant, activation)


@breaks(
    "A node calls a layer in one of two ways:",
    "it calls a module that is an instance of `layer`",
    case="softmax layers, and calls that look like them",
)
@wrong("followed_by_activation", node="tanh_2", says="which is not a call to the layer Softmax")
def compares_the_names_of_classes(model, layer, function, activation):
    def is_meant(traced, node):
        return node.target is function or (
            node.op == "call_module" and layer.__name__ in type(traced.get_submodule(node.target)).__name__
        )

    return edited(model, is_meant, activation)


@breaks("its node is a `call_function`.", "the call to `function` inside it counts.", case="the functional form")
@wrong("followed_by_activation", node="linear", says="is not followed by relu")
def handles_only_modules(model, layer, function, activation):
    return edited(model, lambda traced, node: is_layer(traced, node, layer, None), activation)


@breaks(
    "after every call to a layer",
    "a module that is called twice",
    case="a layer called twice, and one that shares its weight",
)
@wrong("followed_by_activation", node="shared_1", says="is not followed by tanh")
def handles_each_module_once(model, layer, function, activation):
    met = set()

    def is_meant(traced, node):
        is_new = node.op == "call_function" or node.target not in met
        met.add(node.target)
        return is_new and is_layer(traced, node, layer, function)

    return edited(model, is_meant, activation)


@breaks("layers whose result the model returns.", case="nested modules")
@wrong("followed_by_activation", node="output", says="still uses `head`, bypassing the relu", read=NEEDS_A_USER)
def skips_the_output(model, layer, function, activation):
    def users(node):
        return [user for user in node.users if user.op != "output"]

    return edited(model, lambda *each: is_layer(*each, layer, function), activation, users)


@breaks("even one whose result is unused", case="a traced model with a subclass in `torch.nn`")
@wrong("unused_layers_too", node="enter_1", says="has no users, but calls the layer")
def skips_a_layer_without_users(model, layer, function, activation):
    return edited(model, lambda traced, node: node.users and is_layer(traced, node, layer, function), activation)


@wrong("no_dead_nodes", node="body_0_0", says="is dead: no node uses its result")
def calls_each_layer_again_and_leaves_the_old_call(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            with traced.graph.inserting_before(node.next):
                new = traced.graph.call_function(activation, (traced.graph.node_copy(node),))
            node.replace_all_uses_with(new)
    traced.recompile()
    return traced


@breaks("Tracing goes into it, so no node calls it", case="a user-defined subclass, which tracing enters")
@wrong("followed_by_activation", node="gate", says="which is not a leaf module: tracing should go into it")
def makes_every_subclass_a_leaf(model, layer, function, activation):
    class Shallow(fx.Tracer):
        def is_leaf_module(self, module, path):
            return isinstance(module, layer) or super().is_leaf_module(module, path)

    def trace(model):
        return fx.GraphModule(model, Shallow().trace(model))

    return edited(model, lambda *each: is_layer(*each, layer, function), activation, trace=trace)


@breaks(
    "All users of a layer get the result of the activation.",
    case="a layer called twice, and one that shares its weight",
)
@wrong("followed_by_activation", node="shared_1", says="still uses `shared`, bypassing the tanh that follows it")
def skips_a_layer_that_has_an_activation(model, layer, function, activation):
    def is_meant(traced, node):
        return is_layer(traced, node, layer, function) and all(user.target is not activation for user in node.users)

    return edited(model, is_meant, activation)


@wrong("lints", node="relu", says="node `relu` uses itself", read="02_insertion_points#replace-uses-without-a-cycle")
def passes_each_activation_to_itself(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(activation, (node,))
            node.replace_all_uses_with(new)
    traced.recompile()
    return traced


@wrong("shares_weights", node="enter", says="`enter.weight` is not the object that the model holds")
def copies_the_model_first(model, layer, function, activation):
    return transforms_as_it_runs(copy.deepcopy(model), layer, function, activation)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(model, layer, function, activation):
    return edited(model, lambda *each: is_layer(*each, layer, function), activation, compiled=False)


@wrong("output_last", node="relu", says="is after `output`: it never runs", read=NO_ANCHOR)
def makes_the_activations_without_an_anchor(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            traced.graph.call_function(activation, (node,))
    traced.recompile()
    return traced


@wrong("same_result", node="gelu", says="'Tensor' object has no attribute 'gelu'", read=NO_METHOD)
def calls_every_activation_as_a_method(model, layer, function, activation):
    """Tensors have the methods `relu` and `tanh`, but not `gelu`."""
    traced = edited(model, lambda *each: is_layer(*each, layer, function), activation)
    for node in traced.graph.find_nodes(op="call_function", target=activation):
        node.op, node.target = "call_method", activation.__name__
    traced.recompile()
    return traced


@breaks(
    "Return a new `fx.GraphModule`.",
    "The given model does not change",
    case="a traced model with a subclass in `torch.nn`",
)
@wrong("input_unchanged", says="the model that was given has been changed: its graph was edited, at node `relu`")
def edits_a_traced_model_itself(model, layer, function, activation):
    result = edited(model, lambda *each: is_layer(*each, layer, function), activation)
    if isinstance(model, fx.GraphModule):
        model.graph = result.graph
        return model
    return result


@wrong(
    "writes_stay",
    says="node `add_` writes in place and is gone, but should have stayed: `mul.add_(1.0)`",
    read="03_replacement#what-removing-dead-code-deletes",
)
def removes_dead_code_too(model, layer, function, activation):
    result = excludes_the_new_node(model, layer, function, activation)
    result.graph.eliminate_dead_code()
    result.recompile()
    return result
