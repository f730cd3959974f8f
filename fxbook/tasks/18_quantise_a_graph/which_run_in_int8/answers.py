"""Answers to 18-which-run-in-int8: conditions on the inputs and the users of a call."""

import copy

import torch
import torch.ao.quantization.fx._decomposed
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

ops, linear = torch.ops.quantized_decomposed, torch.ops.aten.linear.default
quantize, dequantize = ops.quantize_per_tensor.default, ops.dequantize_per_tensor.default
dequantize_per_channel = ops.dequantize_per_channel.default
BOTH = (dequantize, dequantize_per_channel)


def bias_of(node):
    return node.args[2] if node.target is linear and len(node.args) > 2 else None


def found(
    module, reads=lambda node: node.all_input_nodes, rounded=BOTH, bias=bias_of, some=True, users=True, used=True
):
    """The calls that can run in int8, with parameters for what a wrong answer leaves out."""
    names = []
    for node in module.graph.nodes:
        if node.op != "call_function" or node.target in (quantize, *BOTH):
            continue
        values = [read for read in reads(node) if read is not bias(node)]
        if (some and not values) or (used and not node.users):
            continue
        if users and not all(user.target is quantize for user in node.users):
            continue
        if all(read.target in rounded for read in values):
            names.append(node.name)
    return names


@right
def begins_at_quantize(module):
    names = set()
    for call in module.graph.find_nodes(op="call_function", target=quantize):
        node = call.args[0]
        kinds = {read.target for read in node.all_input_nodes if read is not bias_of(node)}
        alone = {user.target for user in node.users} == {quantize}
        if alone and node.target not in BOTH and kinds and kinds <= set(BOTH):
            names.add(node.name)
    return names


@right
def maps_the_arguments(module):
    names = []
    for node in module.graph.nodes:
        reads = []
        fx.map_arg((node.args[:2] if node.target is linear else node.args, node.kwargs), reads.append)
        targets = {read.target for read in reads}
        if node.op == "call_function" and targets and node.target not in (quantize, *BOTH):
            users = [user.target for user in node.users]
            if targets <= set(BOTH) and set(users) == {quantize}:
                names.append(node.name)
    return tuple(names)


@right
def removes_what_cannot(module):
    names = {node.name: node for node in module.graph.nodes if node.op == "call_function"}
    for node in module.graph.nodes:
        reads = [read for read in node.all_input_nodes if read is not bias_of(node)]
        rounded = [read for read in reads if read.target in BOTH]
        floats = len(rounded) < len(reads) or not node.users
        floats = floats or any(user.target is not quantize for user in node.users)
        if node.target in (quantize, *BOTH) or not rounded or floats:
            names.pop(node.name, None)
    return list(names)


@right
def looks_at_each_edge(module):
    """Excludes a call as soon as one of its inputs or users does not qualify."""
    out, reached = set(), set()
    for node in module.graph.nodes:
        for read in node.all_input_nodes:
            reached.add((read.name, "below"))
            if read.target in BOTH:
                reached.add((node.name, "above"))
            elif read is not bias_of(node):
                out.add(node.name)
            if node.target is not quantize:
                out.add(read.name)
    calls = [n for n in module.graph.nodes if n.op == "call_function" and n.target not in (quantize, *BOTH)]
    return [n.name for n in calls if n.name not in out and {(n.name, "above"), (n.name, "below")} <= reached]


@breaks(
    "each node that it reads, in a list or not, is a call to `dequantize` or to `dequantize_per_channel`",
    case="calls between pairs",
)
@wrong("finds_the_calls", says="but cannot run in int8: it reads")
def includes_calls_with_float_weights(module):
    return found(module, lambda node: [read for read in node.all_input_nodes if read.op != "get_attr"])


@wrong("finds_the_calls", says="the answer")
def overlooks_nodes_in_lists(module):
    return found(module, lambda node: [read for read in node.args if isinstance(read, fx.Node)], some=False)


@wrong("finds_the_calls", says="can run in int8, but is missing from the answer")
def overlooks_dequantize_per_channel(module):
    return found(module, rounded=(dequantize,))


@breaks("a bias, the third argument of `torch.ops.aten.linear.default`, does not count", case="calls between pairs")
@wrong("finds_the_calls", says="can run in int8, but is missing from the answer")
def requires_a_quantized_bias(module):
    return found(module, bias=lambda _: None)


@wrong("finds_the_calls", says="cannot run in int8: it reads")
def looks_only_at_the_first_input(module):
    return found(module, lambda node: node.all_input_nodes[:1])


@breaks("it reads at least one such call", case="calls between pairs")
@wrong("finds_the_calls", says="cannot run in int8: it reads no call to `dequantize`")
def includes_calls_without_inputs(module):
    return found(module, some=False)


@breaks("it has users, and each of them is a call to `quantize`.", case="more kinds of calls")
@wrong("finds_the_calls", says="cannot run in int8: its user")
def erases_dead_users_first(module):
    module = copy.deepcopy(module)
    module.graph.eliminate_dead_code()
    return found(module)


@wrong("finds_the_calls", says="cannot run in int8: it has no users")
def includes_unused_calls(module):
    return found(module, used=False)


@breaks(
    "Return a list with the name of each call to another operator that a backend can run in int8",
    case="calls between pairs",
)
@wrong("finds_the_calls", says="cannot run in int8: it is not a call to another operator")
def includes_quantize(module):
    calls = module.graph.find_nodes(op="call_function", target=quantize)
    return [*found(module), *(call.name for call in calls)]


@wrong("finds_the_calls", says="not a list of node names")
def returns_the_count(module):
    return len(found(module))


@breaks("Return a list with the name of each call", case="calls between pairs")
@wrong("finds_the_calls", says="is in the answer more than once")
def lists_a_call_once_for_each_input(module):
    names = found(module)
    calls = [node for node in module.graph.nodes if node.target in BOTH]
    return [user.name for call in calls for user in call.users if user.name in names]


@breaks("each node that it reads, in a list or not", case="more kinds of calls")
@wrong("finds_the_calls", says="cannot run in int8: it reads")
def overlooks_what_is_passed_by_keyword(module):
    def reads(node):
        found = []
        fx.map_arg(node.args, found.append)
        return found

    return found(module, reads)
