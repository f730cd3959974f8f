"""Answers to 12-layers-of-one-input: which linear layers share an input."""

import collections
import itertools

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong


def is_linear(node):
    if node.op == "call_module":
        return isinstance(node.graph.owning_module.get_submodule(node.target), nn.Linear)
    return node.target is nn.functional.linear


def input_of(node):
    return node.args[0] if node.args else node.kwargs["input"]


def groups_of_nodes(graph):
    groups = collections.defaultdict(list)
    for node in filter(is_linear, graph.nodes):
        groups[input_of(node)].append(node)
    return several(groups)


def several(groups):
    return {name: layers for name, layers in groups.items() if len(layers) > 1}


# ---- right -----------------------------------------------------------------------------------------------------------


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
    groups = {}
    for node in sorted(calls):
        groups.setdefault(input_of(node).name, []).append(node.name)
    return several(groups)


@right
class RunsAnInterpreter(fx.Interpreter):
    """Notes the input of each layer as an interpreter does, but computes no values."""

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


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("or a call to `nn.functional.linear`;", case="layers in every spelling")
@wrong("every_group", says="linear layers, but is missing from the answer")
def looks_at_modules_alone(graph):
    layers = [node for node in graph.nodes if node.op == "call_module" and is_linear(node)]
    groups = {}
    for node in layers:
        groups.setdefault(input_of(node).name, []).append(node.name)
    return several(groups)


@breaks("A linear layer is a call to an `nn.Linear`", case="the feed-forward block of Llama")
@wrong("every_group", says="linear layers, but is missing from the answer")
def looks_at_functions_alone(graph):
    groups = {}
    for node in graph.find_nodes(op="call_function", target=nn.functional.linear):
        groups.setdefault(input_of(node).name, []).append(node.name)
    return several(groups)


@breaks("a list of the names of the nodes that call these layers", case="the attention of Llama")
@wrong("every_group", says="but the answer does not list the layer")
def finds_pairs(graph):
    """Like a pattern of two layers: the third layer is left out."""
    groups = {}
    for node in filter(is_linear, graph.nodes):
        found = groups.setdefault(input_of(node).name, [])
        if len(found) < 2:
            found.append(node.name)
    return several(groups)


@breaks("its input may be a keyword argument.", case="layers in every spelling")
@wrong("every_group", says="but is missing from the answer")
def takes_the_first_input_node(graph):
    """Among keyword arguments, the weight may come first."""
    groups = {}
    for node in filter(is_linear, graph.nodes):
        groups.setdefault(node.all_input_nodes[0].name, []).append(node.name)
    return several(groups)


@breaks(
    "the names of the nodes that are the input to two or more linear layers.",
    case="the feed-forward block of Llama",
)
@wrong("every_group", says="is in the answer, but it is not the input of two linear layers")
def takes_every_user(graph):
    return {node.name: [user.name for user in node.users] for node in graph.nodes if len(node.users) > 1}


@breaks("A linear layer is a call to an `nn.Linear`", case="layers in every spelling")
@wrong("every_group", says="but it calls torch.nn.Bilinear, which is not a linear layer")
def knows_a_layer_by_its_name(graph):
    groups = {}
    for node in graph.nodes:
        held = graph.owning_module.get_submodule(node.target) if node.op == "call_module" else node.target
        if "linear" in str(getattr(held, "__name__", type(held))).lower():
            groups.setdefault(input_of(node).name, []).append(node.name)
    return several(groups)


@breaks("that are the input to two or more linear layers.", case="layers in every spelling")
@wrong("every_group", says="is `tanh`, but the answer does not list the layer")
def leaves_out_what_nothing_uses(graph):
    groups = {}
    for node in graph.nodes:
        if is_linear(node) and node.users:
            groups.setdefault(input_of(node).name, []).append(node.name)
    return several(groups)


@breaks("in graph order.", case="heads at the end, one of them moved")
@wrong(
    "every_group", says="(heads at the end, one of them moved): the layers of `relu` are not in the order of the list"
)
def takes_the_users_as_they_come(graph):
    groups = {}
    for node in graph.nodes:
        layers = [user.name for user in node.users if is_linear(user) and input_of(user) is node]
        if len(layers) > 1:
            groups[node.name] = layers
    return groups


@breaks("Return a dict.", case="the feed-forward block of Llama")
@wrong("every_group", says="answer is not a dict with node names as keys")
def returns_the_lists(graph):
    return list(counts_first(graph).values())


@breaks("Its keys are the names of the nodes", case="the feed-forward block of Llama")
@wrong("every_group", says="The answer has the node `")
def keys_are_the_nodes(graph):
    return {read: [layer.name for layer in layers] for read, layers in groups_of_nodes(graph).items()}


@breaks("Leave the graph unchanged.", case="the feed-forward block of Llama")
@wrong(
    "graph_left_alone",
    says="has been changed: node `exp`",
    read="12_patterns#a-backend-sees-the-whole-model",
)
def removes_what_nothing_uses(graph):
    graph.eliminate_dead_code()
    return counts_first(graph)
