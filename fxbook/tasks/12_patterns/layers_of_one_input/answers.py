"""Answers to 12-layers-of-one-input: the linear layers that share an input."""

import collections
import itertools

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

WHOLE = "12_patterns#a-backend-sees-the-whole-model"


def is_linear(node):
    if node.op == "call_module":
        return isinstance(node.graph.owning_module.get_submodule(node.target), nn.Linear)
    return node.target is nn.functional.linear


def input_of(node):
    return node.args[0] if node.args else node.kwargs["input"]


def several(groups):
    return {name: layers for name, layers in groups.items() if len(layers) > 1}


def grouped(layers, key=lambda node: input_of(node).name):
    """For each key that two or more layers share, the names of these layers."""
    groups = {}
    for node in layers:
        groups.setdefault(key(node), []).append(node.name)
    return several(groups)


@right
def sorts_and_groups(graph):
    layers = sorted(filter(is_linear, graph.nodes), key=lambda node: input_of(node).name)
    groups = itertools.groupby(layers, key=lambda node: input_of(node).name)
    return several({name: tuple(node.name for node in found) for name, found in groups})


@right
def searches_by_target(graph):
    named = {name for name, layer in graph.owning_module.named_modules() if isinstance(layer, nn.Linear)}
    calls = graph.find_nodes(op="call_function", target=nn.functional.linear)
    calls += [node for name in named for node in graph.find_nodes(op="call_module", target=name)]
    return grouped(sorted(calls))


@right
class HasAMethodForEachOpcode(fx.Interpreter):
    """Calls a method for each opcode, as an interpreter does, but computes no values."""

    def __new__(cls, graph):
        self = super().__new__(cls)
        fx.Interpreter.__init__(self, graph.owning_module, graph=graph)
        self.groups = {}
        for node in graph.nodes:
            getattr(self, f"note_{node.op}", lambda node: None)(node)
        return several(self.groups)

    def note_call_module(self, node):
        if isinstance(self.fetch_attr(node.target), nn.Linear):
            self.groups.setdefault(input_of(node).name, []).append(node.name)

    def note_call_function(self, node):
        if node.target is nn.functional.linear:
            self.groups.setdefault(input_of(node).name, []).append(node.name)


@right
def counts_first(graph):
    layers = [node for node in graph.nodes if is_linear(node)]
    counts = collections.Counter(map(input_of, layers))
    return {
        read.name: [node.name for node in layers if input_of(node) is read]
        for read, count in counts.items()
        if count >= 2
    }


@breaks("or a call to `nn.functional.linear`;", case="layers called in every way")
@wrong("every_group", says="linear layers, but is not a key of the answer")
def looks_at_modules_alone(graph):
    return grouped(node for node in graph.nodes if node.op == "call_module" and is_linear(node))


@breaks("A linear layer is a call to an `nn.Linear`", case="the feed-forward block of Llama")
@wrong("every_group", says="linear layers, but is not a key of the answer")
def looks_at_functions_alone(graph):
    return grouped(graph.find_nodes(op="call_function", target=nn.functional.linear))


@breaks("a list of the names of the nodes that call these layers", case="the attention of Llama")
@wrong("every_group", says="but is not in the list for `")
def finds_pairs(graph):
    """Leaves out the third layer, like a pattern of two layers."""
    return {name: layers[:2] for name, layers in grouped(filter(is_linear, graph.nodes)).items()}


@breaks("its input may be a keyword argument.", case="layers called in every way")
@wrong("every_group", says="but is not a key of the answer")
def takes_the_first_input_node(graph):
    """Among keyword arguments, this may be the weight."""
    return grouped(filter(is_linear, graph.nodes), lambda node: node.all_input_nodes[0].name)


@breaks(
    "the names of the nodes that are each the input to two or more linear layers.",
    case="the feed-forward block of Llama",
)
@wrong("every_group", says="is a key of the answer, but is not the input of two linear layers")
def takes_every_user(graph):
    return {node.name: [user.name for user in node.users] for node in graph.nodes if len(node.users) > 1}


@breaks("A linear layer is a call to an `nn.Linear`", case="layers called in every way")
@wrong("every_group", says="but it calls torch.nn.Bilinear, which is not a linear layer")
def knows_a_layer_by_its_name(graph):
    def has_the_name(node):
        held = graph.owning_module.get_submodule(node.target) if node.op == "call_module" else node.target
        return "linear" in str(getattr(held, "__name__", type(held))).lower()

    return grouped(filter(has_the_name, graph.nodes))


@breaks("a list of the names of the nodes that call these layers", case="layers called in every way")
@wrong("every_group", says="layer `layers_0` has the input `x`, but is not in the list for `x`")
def keeps_layers_without_a_bias_apart(graph):
    def key(node):
        layer = graph.owning_module.get_submodule(node.target) if node.op == "call_module" else None
        return input_of(node).name, bool(layer and layer.bias is None)

    return {name: layers for (name, _), layers in grouped(filter(is_linear, graph.nodes), key).items()}


@breaks("that are each the input to two or more linear layers.", case="layers called in every way")
@wrong("every_group", says="has the input `tanh`, but is not in the list for `tanh`")
def leaves_out_layers_without_users(graph):
    return grouped(node for node in graph.nodes if is_linear(node) and node.users)


@breaks("in graph order.", case="heads at the end, one of them moved")
@wrong("every_group", says="the layers with the input `relu` are not in graph order")
def takes_the_order_of_users(graph):
    def layers_of(node):
        return [user.name for user in node.users if is_linear(user) and input_of(user) is node]

    return several({node.name: layers_of(node) for node in graph.nodes})


@breaks("Return a dict.", case="the feed-forward block of Llama")
@wrong("every_group", says="answer is not a dict with node names as keys")
def returns_the_lists(graph):
    return list(counts_first(graph).values())


@breaks("Its keys are the names of the nodes", case="the feed-forward block of Llama")
@wrong("every_group", says="The answer contains the node `")
def has_nodes_as_keys(graph):
    return grouped(filter(is_linear, graph.nodes), input_of)


@breaks("Leave the graph unchanged.", case="the feed-forward block of Llama")
@wrong("graph_left_alone", says="has changed the graph that it was given: node `exp`", read=WHOLE)
def removes_nodes_without_users(graph):
    graph.eliminate_dead_code()
    return counts_first(graph)
