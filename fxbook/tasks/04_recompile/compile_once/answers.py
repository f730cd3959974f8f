"""Answers to 04-compile-once."""

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

ONCE = "04_recompile#compile-once-at-the-end"
LINT = "when_it_breaks/04_recompile#what-lint-can-see-and-what-recompile-finds"
STALE = "04_recompile#who-sees-an-edit-at-once"
gelu = nn.functional.gelu


def is_relu(node):
    return node.op == "call_function" and node.target is torch.relu


@right
def remembers_that_it_changed_something(traced):
    changed = False
    for node in filter(is_relu, traced.graph.nodes):
        node.target, changed = gelu, True
    if changed:
        traced.graph.lint()
        traced.recompile()


class _Gelu(fx.Transformer):
    def call_function(self, target, args, kwargs):
        return super().call_function(gelu if target is torch.relu else target, args, kwargs)


@right
def takes_the_graph_of_a_transformer(traced):
    if any(map(is_relu, traced.graph.nodes)):
        traced.graph = _Gelu(traced).transform().graph


@right
def copies_the_nodes_into_a_new_graph(traced):
    new, values = fx.Graph(), {}
    for node in traced.graph.nodes:
        values[node] = new.node_copy(node, values.__getitem__)
        if is_relu(node):
            values[node].target = gelu
    if any(node.target is gelu for node in new.nodes):
        traced.graph = new


@right
def replaces_a_pattern(traced):
    """``replace_pattern`` always compiles."""
    found = traced.graph.find_nodes(op="call_function", target=torch.relu)
    for node in found:  # A pattern without keywords does not match a call with one.
        node.args, node.kwargs = tuple(node.all_input_nodes), {}
    if found:
        fx.replace_pattern(traced, lambda value: torch.relu(value), lambda value: gelu(value))


@breaks("Rewrite the pass so that it compiles once", case="a model with two activations")
@wrong("compiled_once", says="compiled 2 times, not once", read=ONCE)
def compiles_after_each_edit(traced):
    for node in filter(is_relu, traced.graph.nodes):
        node.target = gelu
        traced.recompile()


@breaks("and not at all if there is nothing to change.", case="a model without an activation to change")
@wrong("compiled_once", says="compiled once, but there was nothing to change", read=ONCE)
def compiles_always(traced):
    for node in filter(is_relu, traced.graph.nodes):
        node.target = gelu
    traced.graph.lint()
    traced.recompile()


@breaks("and the code is up to date.", case="a model with two activations")
@wrong("left_well", says="the compiled code is stale", read=STALE)
def forgets_to_recompile(traced):
    for node in filter(is_relu, traced.graph.nodes):
        node.target = gelu
    traced.graph.lint()


@breaks("This pass replaces each call to `torch.relu` with a call to GELU", case="a model with two activations")
@wrong("changed_as_asked", says="Node `relu_1` still calls torch.relu.")
def stops_after_the_first(traced):
    for node in traced.graph.nodes:
        if is_relu(node):
            node.target = gelu
            traced.graph.lint()
            traced.recompile()
            break


@breaks("each call to `torch.relu`", case="renamed nodes")
@wrong("changed_as_asked", says="node `step_3` still calls torch.relu.")
def looks_for_relu_in_the_node_names(traced):
    found = [node for node in traced.graph.nodes if "relu" in node.name]
    for node in found:
        node.target = gelu
    if found:
        traced.recompile()


@breaks("Other spellings of ReLU stay as they are.", case="other spellings of ReLU next to torch.relu")
@wrong("changed_as_asked", says="call_function of torch.relu_ is gone: only calls to torch.relu should")
def replaces_the_function_that_writes_in_place_too(traced):
    found = [node for node in traced.graph.nodes if node.target in (torch.relu, torch.relu_)]
    for node in found:
        node.target = gelu
    if found:
        traced.recompile()


@breaks("with a call to GELU", case="a model with two activations")
@wrong("result_as_asked", says="The result is not the one asked for: ")
def takes_the_approximation_by_tanh(traced):
    found = traced.graph.find_nodes(op="call_function", target=torch.relu)
    for node in found:
        node.target, node.kwargs = gelu, {"approximate": "tanh"}
    if found:
        traced.recompile()


@breaks("Edit traced:", case="a model with two activations")
@wrong("changed_as_asked", says="You return another module")
def returns_another_module(traced):
    return _Gelu(traced).transform()


@wrong("ends well", says="Your code raises AttributeError")
def calls_a_method_that_the_nodes_lack(traced):
    found = traced.graph.nodes.find(op="call_function", target=torch.relu)
    for node in found:
        node.target = gelu
    traced.recompile()


@breaks("At the end, the graph is well formed", case="a model with two activations")
@wrong("left_well", says="graph.lint() rejects the graph", read=LINT)
def puts_the_calls_before_their_arguments(traced):
    found = traced.graph.find_nodes(op="call_function", target=torch.relu)
    first = next(iter(traced.graph.nodes)).next
    for node in found:
        with traced.graph.inserting_before(first):
            node.replace_all_uses_with(traced.graph.call_function(gelu, node.args))
        traced.graph.erase_node(node)
    if found:
        traced.recompile()


@breaks("Edit traced: torch.relu becomes nn.functional.gelu.", case="a model with two activations")
@wrong("changed_as_asked", says="Node `relu` calls the class `GELU`: that makes a layer, and does not apply it.")
def calls_the_class_of_the_layer(traced):
    found = traced.graph.find_nodes(op="call_function", target=torch.relu)
    for node in found:
        node.target = nn.GELU
    if found:
        traced.recompile()


@wrong("changed_as_asked", says="the call_method of relu that no node uses is gone: dead nodes should stay too.")
def removes_dead_code_too(traced):
    found = traced.graph.find_nodes(op="call_function", target=torch.relu)
    for node in found:
        node.target = gelu
    if found:
        traced.graph.eliminate_dead_code()
        traced.recompile()
