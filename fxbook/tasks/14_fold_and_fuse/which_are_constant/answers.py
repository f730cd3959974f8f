"""Answers to 14-which-are-constant: the calls whose results depend on stored tensors alone."""

import operator

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

RANDOM = torch.Tag.nondeterministic_seeded


def is_frozen(module, node):
    return not operator.attrgetter(node.target)(module).requires_grad


def is_pure(node, random=True, returns=True):
    if node.target is operator.getitem:
        return True
    draws = random and RANDOM in node.target.tags
    return not draws and (not returns or len(node.target._schema.returns) > 0)


def found(module, stored=is_frozen, reads=lambda node: node.all_input_nodes, deep=True, pure=is_pure, none_read=True):
    """The names of the constants, with parameters for what a wrong answer leaves out."""
    fixed, names = set(), []
    for node in module.graph.nodes:
        if node.op == "get_attr" and stored(module, node):
            fixed.add(node)
        if node.op != "call_function" or not fixed.issuperset(reads(node)) or not pure(node):
            continue
        if not none_read and not reads(node):
            continue
        if deep:
            fixed.add(node)
        names.append(node.name)
    return names


@right
def repeats_until_nothing_changes(module):
    names, before = {node.name for node in module.graph.nodes if node.op == "call_function"}, None
    stored = {n.name for n in module.graph.nodes if n.op == "get_attr" and is_frozen(module, n)}
    nodes = {node.name: node for node in module.graph.nodes}
    while names != before:
        before = names
        names = {
            name
            for name in names
            if is_pure(nodes[name]) and all(read.name in names | stored for read in nodes[name].all_input_nodes)
        }
    return sorted(names)


@right
def collects_the_nodes_with_map_arg(module):
    def reads(node):
        gathered = []
        fx.node.map_arg((node.args, node.kwargs), gathered.append)
        return gathered

    return found(module, reads=reads)


@right
def lists_the_trained_weights_by_name(module):
    weights = module.named_parameters(remove_duplicate=False)
    trained = {name for name, weight in weights if weight.requires_grad}
    return found(module, stored=lambda module, node: node.target not in trained)


@right
def interprets_the_graph(module):
    class Walker(fx.Interpreter):
        def run_node(self, n):
            reads = [self.env[read] for read in n.all_input_nodes]
            match n.op:
                case "get_attr":
                    return is_frozen(module, n)
                case "call_function":
                    return is_pure(n) and all(reads)
            return False

    walker = Walker(module, garbage_collect_values=False)
    inputs = [None for node in module.graph.nodes if node.op == "placeholder"]
    walker.run(*inputs, enable_io_processing=False)
    return [node.name for node, fixed in walker.env.items() if fixed and node.op == "call_function"]


@breaks("each of its input nodes is a constant,", case="a Llama")
@wrong("finds_the_constants", says="is a constant but is missing from the answer")
def looks_only_one_step_back(module):
    return found(module, deep=False)


@breaks(
    "it draws no random numbers:",
    "the tags of its operator do not include `torch.Tag.nondeterministic_seeded`;",
    case="expressions of weights",
)
@wrong("finds_the_constants", says="`poisson` is in the answer but is not a constant: it draws random numbers")
def looks_for_rand_in_the_name(module):
    return found(module, pure=lambda node: is_pure(node, random=False) and "rand" not in str(node.target))


@breaks("of the names of the `call_function` nodes that are constants.", case="a Llama")
@wrong("finds_the_constants", says="is a constant but is missing from the answer")
def leaves_out_calls_without_users(module):
    nodes = {node.name: node for node in module.graph.nodes}
    return [name for name in found(module) if nodes[name].users]


@breaks("it returns something:", case="a Llama")
@wrong("finds_the_constants", says="it returns nothing")
def overlooks_calls_that_return_nothing(module):
    return found(module, pure=lambda node: is_pure(node, returns=False))


@breaks("a call without input nodes meets this condition too;", case="a Llama")
@wrong("finds_the_constants", says="is a constant but is missing from the answer")
def requires_an_input_node(module):
    return found(module, none_read=False)


@breaks("or fetches a stored tensor that is not trained", case="a Llama")
@wrong("finds_the_constants", says="is not a constant: it uses")
def overlooks_keywords_and_lists(module):
    return found(module, reads=lambda node: [value for value in node.args if isinstance(value, fx.Node)])


@breaks("(`requires_grad` is `False`);", case="expressions of weights")
@wrong("finds_the_constants", says="which is trained")
def overlooks_the_weights_of_submodules(module):
    trained = {name for name, weight in module.named_parameters(recurse=False) if weight.requires_grad}
    return found(module, stored=lambda module, node: node.target not in trained)


@wrong("finds_the_constants", says="is not a constant: it uses `inner_tied`, which is trained")
def lists_a_weight_with_two_names_once(module):
    trained = {name for name, weight in module.named_parameters() if weight.requires_grad}
    return found(module, stored=lambda module, node: node.target not in trained)


@breaks("of the names of the `call_function` nodes", case="a Llama")
@wrong("finds_the_constants", says="but is not the name of a `call_function` node")
def includes_stored_tensors(module):
    stored = [n.name for n in module.graph.nodes if n.op == "get_attr" and is_frozen(module, n)]
    return stored + found(module)


@breaks("Return a list", case="a Llama")
@wrong("finds_the_constants", says="The answer is not a list of node names")
def returns_the_count(module):
    return len(found(module))


@breaks("A call that the graph returns counts too.", case="expressions of weights")
@wrong("finds_the_constants", says="is a constant but is missing from the answer")
def leaves_out_what_is_returned(module):
    return [name for name in found(module) if name not in map(str, module.graph.output_node().all_input_nodes)]


@breaks("but it counts as a call.", case="expressions of weights")
@wrong("finds_the_constants", says="is a constant but is missing from the answer")
def leaves_out_getitem(module):
    return found(module, pure=lambda node: node.target is not operator.getitem and is_pure(node))
