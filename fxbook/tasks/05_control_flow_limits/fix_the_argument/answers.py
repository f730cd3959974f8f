"""Answers to 05-fix-the-argument."""

import copy
import inspect
import operator

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

OTHER_GRAPH = "01_node_creation#does-not-belong-to-this-graph-but-was-used-as-an-argument"


def placeholder(traced, name):
    return next(node for node in traced.graph.find_nodes(op="placeholder") if node.target == f"{name}_1")


def erase_with_users(graph, node):
    for user in list(node.users):
        erase_with_users(graph, user)
    graph.erase_node(node)


def fixed(model, name, value, compiled=True):
    traced = fx.symbolic_trace(model, concrete_args={name: value})
    erase_with_users(traced.graph, placeholder(traced, name))
    if compiled:
        traced.recompile()
    return traced


@right
def copies_what_does_not_use_the_argument(model, name, value):
    traced = fx.symbolic_trace(model, concrete_args={name: value})
    left_out = {placeholder(traced, name)}
    graph, copies = fx.Graph(), {}
    for node in traced.graph.nodes:
        if left_out.intersection(node.all_input_nodes):
            left_out.add(node)
        elif node not in left_out:
            copies[node] = graph.node_copy(node, copies.get)
    return fx.GraphModule(traced, graph)


@right
def finds_the_input_by_its_position(model, name, value):
    place = list(inspect.signature(model.forward).parameters).index(name)
    traced = fx.symbolic_trace(model, concrete_args={name: value})
    nodes = list(traced.graph.nodes)
    erase_with_users(traced.graph, [node for node in nodes if node.op == "placeholder"][place])
    traced.recompile()
    return traced


@right
def transforms_without_the_guard(model, name, value):
    class Without(fx.Transformer):
        def placeholder(self, target, args, kwargs):
            return None if target == f"{name}_1" else super().placeholder(target, args, kwargs)

        def run_node(self, n):
            guards = [node for user in placeholder(self.module, name).users for node in (user, *user.users)]
            return None if n in guards else super().run_node(n)

    return Without(fx.symbolic_trace(model, concrete_args={name: value})).transform()


@right
def never_makes_the_input(model, name, value):
    """Gives the model the value where the tracer would make a placeholder, so that no node checks the argument."""

    class Fixing(fx.Tracer):
        def create_proxy(self, kind, target, args, kwargs, *others, **options):
            if (kind, target) == ("placeholder", name):
                return value
            return super().create_proxy(kind, target, args, kwargs, *others, **options)

    return fx.GraphModule(model, Fixing().trace(model))


@breaks("and remove the argument:", case="the classifier, two rounds")
@wrong("argument_gone", node="times_1", says="`times_1` is still an input")
def relies_on_dead_code_elimination(model, name, value):
    traced = fx.symbolic_trace(model, concrete_args={name: value})
    traced.graph.eliminate_dead_code()
    traced.recompile()
    return traced


@breaks("it is not an input, and no node checks it.", case="the classifier, two rounds")
@wrong("argument_gone", node="_assert", says="Node `_assert` still checks the argument")
def leaves_a_check_of_the_value(model, name, value):
    traced = fx.symbolic_trace(model, concrete_args={name: value})
    node = placeholder(traced, name)
    node.replace_all_uses_with(value)
    for user in list(node.users):
        user.replace_input_with(node, value)
    traced.graph.erase_node(node)
    traced.recompile()
    return traced


@breaks("Everything else stays:", "the other inputs, even unused ones", case="a mask fixed at None")
@wrong("argument_gone", says="the input `masked` is gone: only `mask` should go")
def erases_every_input_without_users(model, name, value):
    traced = fixed(model, name, value)
    for node in traced.graph.find_nodes(op="placeholder"):
        if not node.users:
            traced.graph.erase_node(node)
    traced.recompile()
    return traced


@breaks("the checks that the model makes with `torch._assert`.", case="a flag next to an unused input")
@wrong("rest_untouched", says="the model's own check, “a multiple of four features was expected”, is gone")
def erases_every_check_of_that_value(model, name, value):
    traced = fx.symbolic_trace(model, concrete_args={name: value})
    for node in traced.graph.nodes:
        is_check = node.target is fx._symbolic_trace._assert_is_none
        if is_check or (node.target is operator.eq and node.args[1] == value):
            erase_with_users(traced.graph, node)
    traced.graph.erase_node(placeholder(traced, name))
    traced.recompile()
    return traced


@wrong("no_dead_nodes", node="eq", says="Node `eq` is dead", read="02_insertion_points#a-new-node-needs-a-user")
def leaves_the_comparison(model, name, value):
    traced = fx.symbolic_trace(model, concrete_args={name: value})
    node = placeholder(traced, name)
    for user in list(node.users):
        user.args = (value, value)
        if not user.users:
            traced.graph.erase_node(user)
        for reader in list(user.users):
            traced.graph.erase_node(reader)
    traced.graph.erase_node(node)
    traced.recompile()
    return traced


@wrong("lints", node="body", says="node `body` uses x, which is not in this graph", read=OTHER_GRAPH)
def copies_nodes_without_a_map(model, name, value):
    traced = fx.symbolic_trace(model, concrete_args={name: value})
    left_out, graph = {placeholder(traced, name)}, fx.Graph()
    for node in traced.graph.nodes:
        if left_out.intersection(node.all_input_nodes):
            left_out.add(node)
        elif node not in left_out:
            graph.node_copy(node)
    return fx.GraphModule(traced, graph)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(model, name, value):
    return fixed(model, name, value, compiled=False)


@breaks("and `model` is not changed.", case="the classifier, two rounds")
@wrong("input_unchanged", says="The model that was given has been changed: the model has a new attribute `forward`")
def fixes_it_in_the_model(model, name, value):
    traced = fixed(model, name, value)
    model.forward = traced.forward
    return traced


@breaks("The result shares the weights of `model`", case="the classifier, two rounds")
@wrong("shares_weights", node="body", says="`body.weight` is not the object that the model holds")
def copies_the_model_first(model, name, value):
    return fixed(copy.deepcopy(model), name, value)


@breaks("fixed at `value`", case="the classifier, two rounds")
@wrong("same_result", node="output", says="The result is not the one asked for: it holds different numbers")
def fixes_another_value(model, name, value):
    return fixed(model, name, 1 if value == 2 else value)


@breaks("or `None`.", case="a mask fixed at None")
@wrong("argument_gone", node="_assert_is_none", says="(a mask fixed at None): node `_assert_is_none` still checks the")
def leaves_a_check_of_none(model, name, value):
    traced = fx.symbolic_trace(model, concrete_args={name: value})
    node = placeholder(traced, name)
    for user in list(node.users):
        if user.target is operator.eq:
            erase_with_users(traced.graph, user)
        else:
            user.args = (value, *user.args[1:])
    traced.graph.erase_node(node)
    traced.recompile()
    return traced


@wrong(
    "decided_by_the_value",
    node="mul",
    says="(a mask fixed at None): node `mul` computes with `None`: `forward`",
)
def puts_none_into_the_traced_graph(model, name, value):
    if value is not None:
        return fixed(model, name, value)
    traced = fx.symbolic_trace(model)
    [node] = traced.graph.find_nodes(op="placeholder", target=name)
    node.replace_all_uses_with(None)
    traced.graph.erase_node(node)
    traced.recompile()
    return traced
