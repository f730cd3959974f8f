"""Answers to 02-activation-after-linear: a pass that puts an activation behind every call of a layer."""

import copy

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong


def is_layer(traced, node, layer, function):
    if node.op == "call_module":
        return isinstance(traced.get_submodule(node.target), layer)
    return node.op == "call_function" and node.target is function


def put_behind(node, activation, readers=None):
    """A new node behind this one, for the readers given: for all, where none are."""
    readers = list(node.users) if readers is None else readers
    with node.graph.inserting_after(node):
        new = node.graph.call_function(activation, (node,))
    for reader in readers:
        reader.replace_input_with(node, new)
    return new


def inputs_of(traced):
    return traced.graph.find_nodes(op="placeholder")


def node_of(value):
    return value.node if isinstance(value, fx.Proxy) else value


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def transforms_as_it_runs(model, layer, function, activation):
    """A Transformer makes a new graph while it runs the old one; the activation is called on its proxies."""

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
    """Copies the graph; readers of a layer are given the activation when they are copied."""

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
def spares_the_new_node(model, layer, function, activation):
    """Looks the functions up, and asks about each reader; every activation is a module of its own."""
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
    """An Interpreter that is given a proxy runs every node of the old graph into a new one."""

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
        inputs = [tracer.create_proxy("placeholder", node.target, (), {}) for node in inputs_of(traced)]
        graph.output(fx.node.map_aggregate(Activating(traced).run(*inputs), node_of))
        return fx.GraphModule(traced, graph)


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("and it counts as the layer.", case="a traced model, with a subclass in `torch.nn`, which is a leaf module")
@wrong("followed_by_activation", node="out_proj", says="is not followed by relu")
def compares_the_class_itself(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        found = node.op == "call_module" and type(traced.get_submodule(node.target)) is layer
        if found or (node.op == "call_function" and node.target is function):
            put_behind(node, activation)
    traced.recompile()
    return traced


@breaks("or it calls `function`", "the call of `function` inside it counts.", case="the functional form")
@wrong("followed_by_activation", node="linear", says="is not followed by relu")
def knows_modules_only(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if node.op == "call_module" and is_layer(traced, node, layer, function):
            put_behind(node, activation)
    traced.recompile()
    return traced


@wrong("ends well", says="object has no attribute 'body.0.0'")
def fetches_a_path_with_getattr(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        called = getattr(model, node.target) if node.op == "call_module" else None
        if isinstance(called, layer) or node.target is function:
            put_behind(node, activation)
    traced.recompile()
    return traced


@breaks(
    "after every call of a layer", "a module that is called twice", case="a layer called twice, and one with its weight"
)
@wrong("followed_by_activation", node="shared_1", says="is not followed by tanh")
def takes_each_module_once(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for name, module in traced.named_modules():
        if isinstance(module, layer):
            put_behind(next(node for node in traced.graph.nodes if node.target == name), activation)
    for node in traced.graph.find_nodes(op="call_function", target=function):
        put_behind(node, activation)
    traced.recompile()
    return traced


@breaks("layers whose result the model returns.", case="nested modules")
@wrong(
    "no_dead_nodes",
    node="relu_2",
    says="is dead: no node uses its result",
    read="02_insertion_points#a-new-node-needs-a-user",
)
def leaves_out_the_output(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            put_behind(node, activation, [user for user in node.users if user.op != "output"])
    traced.recompile()
    return traced


@breaks("All users of a layer get the result of the activation.", case="a layer called twice, and one with its weight")
@wrong("followed_by_activation", node="mul", says="still uses `shared`, past the tanh that follows it")
def serves_the_first_reader_only(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            put_behind(node, activation, list(node.users)[:1])
    traced.recompile()
    return traced


@wrong("lints", node="relu", says="node `relu` uses itself", read="02_insertion_points#replace-uses-without-a-cycle")
def hands_each_activation_to_itself(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(activation, (node,))
            node.replace_all_uses_with(new)
    traced.recompile()
    return traced


@breaks("the new one shares its weights.", case="nested modules")
@wrong("shares_weights", node="enter", says="`enter.weight` is not the object that the model holds")
def copies_the_model_first(model, layer, function, activation):
    return transforms_as_it_runs(copy.deepcopy(model), layer, function, activation)


@breaks("The given model does not change", case="nested modules")
@wrong("input_unchanged", says="`body.0.0` is another object")
def puts_a_sequential_into_the_model(model, layer, function, activation):
    """Without a graph: each layer gives way to itself and an activation."""

    class Activation(nn.Module):
        def forward(self, x):
            return activation(x)

    for path, module in list(model.named_modules()):
        if isinstance(module, layer) and path:
            model.set_submodule(path, nn.Sequential(module, Activation()))
    traced = fx.symbolic_trace(model)
    for node in traced.graph.find_nodes(op="call_function", target=function):
        put_behind(node, activation)
    traced.recompile()
    return traced


@breaks("A node calls a layer in one of two ways:", case="convolutions")
@wrong("followed_by_activation", node="relu_3", says="follows `head`, which is no layer of the kind asked")
def takes_linear_layers_too(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, (layer, nn.Linear), function):
            put_behind(node, activation)
    traced.recompile()
    return traced


@breaks("in any model that can be traced.", case="nested modules")
@wrong("followed_by_activation", node="head", says="is not followed by relu")
def goes_by_the_names_of_the_chapter(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if node.name.startswith(("up", "down", "body", "linear")) and is_layer(traced, node, layer, function):
            put_behind(node, activation)
    traced.recompile()
    return traced


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            put_behind(node, activation)
    return traced


@breaks("Return a new `fx.GraphModule`.", case="nested modules")
@wrong("right kind", says="Your function returns nothing (None): an fx.GraphModule was asked")
def forgets_to_return(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            put_behind(node, activation)
    traced.recompile()


@breaks("Insert an activation", case="nested modules")
@wrong(
    "no_dead_nodes",
    node="relu",
    says="is dead: no node uses its result",
    read="02_insertion_points#a-new-node-needs-a-user",
)
def gives_the_activations_no_readers(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            put_behind(node, activation, [])
    traced.recompile()
    return traced


@breaks("The check also uses a different kind of layer", case="a layer called twice, and one with its weight")
@wrong("followed_by_activation", node="shared", says="is not followed by tanh")
def puts_relu_in_whatever_is_asked(model, layer, function, activation):
    """The names of the ordinary case, written down in place of the arguments."""
    return transforms_as_it_runs(model, nn.Linear, nn.functional.linear, nn.functional.relu)


@wrong(
    "output_last",
    node="relu",
    says="is after `output`: it never runs",
    read="02_insertion_points#a-node-made-without-an-anchor",
)
def makes_the_activations_and_leaves_them_there(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            traced.graph.call_function(activation, (node,))
    traced.recompile()
    return traced


@wrong(
    "same_result",
    node="gelu",
    says="'Tensor' object has no attribute 'gelu'",
    read="00_first_graph#attributeerror-tensor-object-has-no-attribute-gelu",
)
def writes_every_activation_as_a_method(model, layer, function, activation):
    """Tensors have a `relu` and a `tanh`."""
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function):
            readers = list(node.users)
            with traced.graph.inserting_after(node):
                new = traced.graph.call_method(activation.__name__, (node,))
            for reader in readers:
                reader.replace_input_with(node, new)
    traced.recompile()
    return traced


@breaks("by position or by name", case="the functional form")
@wrong("followed_by_activation", node="linear_1", says="is not followed by relu")
def looks_at_arguments_by_position(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function) and node.args:
            put_behind(node, activation)
    traced.recompile()
    return traced


@breaks("it calls a module that is an instance of `layer`", case="nested modules")
@wrong("followed_by_activation", node="body_0_0", says="is not followed by relu")
def knows_functions_only(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in traced.graph.find_nodes(op="call_function", target=function):
        put_behind(node, activation)
    traced.recompile()
    return traced


@breaks("nested modules", case="nested modules")
@wrong("followed_by_activation", node="body_0_0", says="is not followed by relu")
def looks_at_the_top_level_only(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_layer(traced, node, layer, function) and "." not in str(node.target).removeprefix("torch."):
            put_behind(node, activation)
    traced.recompile()
    return traced


@breaks("it calls `function`, the functional form", case="a subclass defined outside `torch.nn`, which is traced into")
@wrong("followed_by_activation", node="gelu_1", says="follows `linear_1`, which is no layer of the kind asked")
def compares_the_names_of_functions(model, layer, function, activation):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        is_module = node.op == "call_module" and isinstance(traced.get_submodule(node.target), layer)
        if is_module or (node.op == "call_function" and node.target.__name__ == function.__name__):
            put_behind(node, activation)
    traced.recompile()
    return traced


@breaks("The given model does not change", case="a traced model, with a subclass in `torch.nn`, which is a leaf module")
@wrong("input_unchanged", says="the model that was given has been changed: its graph was edited, at node `relu`")
def edits_a_model_that_is_traced_already(model, layer, function, activation):
    traced = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        is_module = node.op == "call_module" and isinstance(traced.get_submodule(node.target), layer)
        if is_module or node.target is function:
            put_behind(node, activation)
    traced.recompile()
    return traced
