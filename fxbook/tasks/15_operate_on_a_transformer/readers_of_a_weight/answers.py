"""Answers to 15-readers-of-a-weight: which weights of linear layers another node reads."""

import collections
import operator

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong


def linear_calls(module):
    for node in module.graph.find_nodes(op="call_module"):
        layer = module.get_submodule(node.target)
        if isinstance(layer, nn.Linear):
            yield node, layer


def held_by(module, node):
    """The tensors that a node reads."""
    if node.op == "call_module":
        return list(module.get_submodule(node.target).parameters())
    if node.op == "get_attr":
        return [operator.attrgetter(node.target)(module)]
    return []


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def asks_every_other_node(module):
    return {
        node.name
        for node, layer in linear_calls(module)
        if any(
            tensor is layer.weight
            for other in module.graph.nodes
            if other is not node
            for tensor in held_by(module, other)
        )
    }


@right
def keeps_the_first_reader(module):
    first, found = {}, set()
    for node in module.graph.nodes:
        for tensor in held_by(module, node):
            if id(tensor) in first:
                found |= {node, first[id(tensor)]}
            first.setdefault(id(tensor), node)
    shared = collections.Counter(id(tensor) for node in module.graph.nodes for tensor in held_by(module, node))
    calls = dict(linear_calls(module))
    return {node.name for node in found if node in calls and shared[id(calls[node].weight)] > 1}


@right
def fetches_as_an_interpreter_does(module):
    """`fetch_attr` follows the path of a layer or of a weight."""
    interpreter, seen = fx.Interpreter(module), collections.defaultdict(list)
    for node in module.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            value = interpreter.fetch_attr(node.target)
            for tensor in value.parameters() if isinstance(value, nn.Module) else [value]:
                seen[id(tensor)].append(node.name)
    return {node.name for node, layer in linear_calls(module) if len(seen[id(layer.weight)]) > 1}


@right
def names_all_paths(module):
    """All names of a tensor, and the nodes whose target leads to one of them."""
    paths = collections.defaultdict(list)
    for name, tensor in module.named_parameters(remove_duplicate=False):
        paths[id(tensor)].append(name)
    found = set()
    for node, layer in linear_calls(module):
        for other in module.graph.nodes:
            if other is not node and other.op in ("call_module", "get_attr"):
                for path in paths[id(layer.weight)]:
                    if path == other.target or path.startswith(f"{other.target}."):
                        found.add(node.name)
    return found


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("or if it fetches the parameter with `get_attr`.", case="weights that are shared in every way")
@wrong("finds_the_shared", says="reads too, but is missing from the answer")
def forgets_what_is_fetched(module):
    calls = module.graph.find_nodes(op="call_module")
    counts = collections.Counter(tensor for node in calls for tensor in held_by(module, node))
    return {node.name for node, layer in linear_calls(module) if counts[layer.weight] > 1}


@breaks("or if it fetches the parameter with `get_attr`.", case="weights that are shared in every way")
@wrong("finds_the_shared", says="node `named` has a weight that `table` reads too, but is missing from the answer")
def fetches_by_the_name_of_the_layer(module):
    fetched = {node.target for node in module.graph.find_nodes(op="get_attr")}
    calls = dict(linear_calls(module))
    by_name = {node.name for node in calls if f"{node.target}.weight" in fetched}
    return forgets_what_is_fetched(module) | by_name


@breaks("Another node reads the weight if it calls a module", case="weights that are shared in every way")
@wrong("finds_the_shared", says="node `view` is in the answer, but no other node reads its weight")
def looks_at_modules_that_no_node_calls(module):
    counts = collections.Counter(tensor for part in module.modules() for tensor in part._parameters.values())
    alone = {node.name for node, layer in linear_calls(module) if counts[layer.weight] > 1}
    return asks_every_other_node(module) | alone


@breaks("whose weight another node reads too.", case="weights that are shared in every way")
@wrong("finds_the_shared", says="node `view` is in the answer, but no other node reads its weight")
def counts_a_node_once_for_each_name(module):
    counts = collections.Counter()
    for node in module.graph.find_nodes(op="call_module"):
        named = module.get_submodule(node.target).named_parameters(remove_duplicate=False)
        counts.update(tensor for _, tensor in named)
    twice = {node.name for node, layer in linear_calls(module) if counts[layer.weight] > 1}
    return asks_every_other_node(module) | twice


@breaks("either the same layer or another layer", case="the ends of GPT-2")
@wrong("finds_the_shared", says="reads too, but is missing from the answer")
def looks_at_linear_layers_alone(module):
    counts = collections.Counter(layer.weight for _, layer in linear_calls(module))
    return {node.name for node, layer in linear_calls(module) if counts[layer.weight] > 1}


@breaks("if it calls a module that holds this very parameter", case="weights that are shared in every way")
@wrong("finds_the_shared", says="is in the answer, but no other node reads its weight")
def compares_numbers(module):
    found = set()
    for node, layer in linear_calls(module):
        for other in module.graph.nodes:
            for tensor in held_by(module, other):
                if other is not node and torch.equal(tensor, layer.weight):
                    found.add(node.name)
    return found


@breaks("whose weight another node reads too.", case="weights that are shared in every way")
@wrong("finds_the_shared", says="is in the answer, but no other node reads its weight")
def counts_the_bias_too(module):
    counts = collections.Counter(tensor for node in module.graph.nodes for tensor in held_by(module, node))
    return {
        node.name for node, layer in linear_calls(module) if any(counts[tensor] > 1 for tensor in layer.parameters())
    }


@breaks("or an instance of a subclass", case="weights that are shared in every way")
@wrong("finds_the_shared", says="reads too, but is missing from the answer")
def looks_at_the_name_of_the_class(module):
    found = {node.name: type(layer) for node, layer in linear_calls(module)}
    return {name for name in asks_every_other_node(module) if "Linear" in found[name].__name__}


@breaks("if it calls a module that holds this very parameter", case="weights that are shared in every way")
@wrong("finds_the_shared", says="reads too, but is missing from the answer")
def looks_at_what_is_trained(module):
    frozen = {node.name for node, layer in linear_calls(module) if not layer.weight.requires_grad}
    return asks_every_other_node(module) - frozen


@breaks("that call an `nn.Linear`", case="the ends of GPT-2")
@wrong("finds_the_shared", says="but does not call an `nn.Linear`")
def returns_every_reader(module):
    counts = collections.Counter(tensor for node in module.graph.nodes for tensor in held_by(module, node))
    return {node.name for node in module.graph.nodes if any(counts[tensor] > 1 for tensor in held_by(module, node)[:1])}


@breaks("Return the set of the names of the nodes", case="the ends of GPT-2")
@wrong("finds_the_shared", says="The answer is not a set of node names")
def counts_them(module):
    return len(asks_every_other_node(module))


@breaks("Leave the module unchanged.", case="the ends of GPT-2")
@wrong("input_unchanged", says="weight")
def unties_what_it_finds(module):
    found = asks_every_other_node(module)
    for node, layer in linear_calls(module):
        if node.name in found:
            layer.weight = nn.Parameter(layer.weight.detach().clone())
    return found
