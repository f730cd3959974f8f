"""Answers to 18-drop-the-detour: what makes two calls a pair, and which other calls use them."""

import copy

import torch
import torch.ao.quantization.fx._decomposed
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

ops = torch.ops.quantized_decomposed
quantize, dequantize = ops.quantize_per_tensor.default, ops.dequantize_per_tensor.default


def drop(module, same=lambda far, near: far.args[1:] == near.args[1:], far_of=lambda near: near.args[0], most=1000):
    """Drop the pairs, and whatever a wrong answer takes for a pair."""
    for near in module.graph.find_nodes(op="call_function", target=quantize):
        far = far_of(near)
        if most and far.target is dequantize and same(far, near):
            most -= 1
            near.replace_all_uses_with(far.args[0])
            module.graph.erase_node(near)
            if not far.users:
                module.graph.erase_node(far)


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def begins_at_dequantize(module):
    for far in module.graph.find_nodes(op="call_function", target=dequantize):
        near = [user for user in far.users if user.target is quantize and user.args[1:] == far.args[1:]]
        for user in near:
            user.replace_all_uses_with(far.args[0])
            module.graph.erase_node(user)
        if near and not far.users:
            module.graph.erase_node(far)
    module.recompile()


@right
def repeats_until_nothing_changes(module):
    def is_pair(node):
        return node.target is quantize and node.args[0].target is dequantize and node.args[0].args[1:] == node.args[1:]

    while near := next(filter(is_pair, reversed(list(module.graph.nodes))), None):
        far = near.args[0]
        near.replace_all_uses_with(far.args[0])
        module.graph.erase_node(near)
        if not far.users:
            module.graph.erase_node(far)
    module.recompile()


@right
def collects_first(module):
    """Then each user gets the replacement of the node that it reads."""
    instead, spare = {}, {}
    for node in module.graph.nodes:
        if node.target is quantize:
            far, *how = node.args
            if far.target is dequantize and [*far.args[1:]] == how:
                instead[node] = instead.get(far.args[0], far.args[0])
                spare[far] = None
    for node in module.graph.nodes:
        node.args = fx.map_arg(node.args, lambda read: instead.get(read, read))
    for node in [*instead, *reversed(spare)]:
        if not node.users:
            module.graph.erase_node(node)
    module.recompile()


@right
def copies_the_graph(module):
    """Into a new one, without the calls that can go."""
    kept, gone = {}, set()

    def is_pair(node):
        return node.target is quantize and node.args[0].target is dequantize and node.args[0].args[1:] == node.args[1:]

    for node in module.graph.nodes:
        if is_pair(node):
            gone.add(node)
        if node.target is dequantize and node.users and all(map(is_pair, node.users)):
            gone.add(node)
    graph = fx.Graph()
    for node in module.graph.nodes:
        if node not in gone:
            kept[node] = graph.node_copy(node, lambda read: kept[read])
        else:
            kept[node] = kept[node.args[0].args[0] if node.target is quantize else node.args[0]]
    module.graph = graph


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("Edit a traced module in place.", case="pairs between layers")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(module):
    own = copy.deepcopy(module)
    drop(own)
    own.recompile()
    return own


@wrong("edited", says="it was traced or built again")
def traces_again(module):
    drop(module)
    module.recompile()
    return fx.symbolic_trace(module)


@breaks(
    "with the same scale, zero point, bounds and dtype",
    "a pair whose calls differ in one of these arguments",
    case="pairs that differ",
)
@wrong("others_stay", says="is gone, but should have stayed")
def ignores_the_bounds(module):
    drop(module, lambda far, near: (*far.args[1:3], far.args[5]) == (*near.args[1:3], near.args[5]))
    module.recompile()


@breaks("a pair with another call in between", case="pairs between layers")
@wrong("others_stay", says="is gone, but should have stayed")
def looks_through_a_call(module):
    def far_of(near):
        read = near.args[0]
        return read if read.target is dequantize or not read.all_input_nodes else read.all_input_nodes[0]

    drop(module, far_of=far_of)
    module.recompile()


@breaks("Erase the `quantize`,", case="pairs between layers")
@wrong("pairs_are_gone", node="quantize_per_tensor_default_1", says="is still there, although it only undoes")
def leaves_the_calls_behind(module):
    for near in module.graph.find_nodes(op="call_function", target=quantize):
        if near.args[0].target is dequantize and near.args[0].args[1:] == near.args[1:]:
            near.replace_all_uses_with(near.args[0].args[0])
    module.recompile()


@wrong("spare_are_gone", node="dequantize_per_tensor_default_2", says="is still there, although no other call uses it")
def leaves_dequantize_behind(module):
    for near in module.graph.find_nodes(op="call_function", target=quantize):
        if near.args[0].target is dequantize and near.args[0].args[1:] == near.args[1:]:
            near.replace_all_uses_with(near.args[0].args[0])
            module.graph.erase_node(near)
    module.recompile()


@breaks("and also the `dequantize` if nothing else uses it.", case="pairs between layers")
@wrong("others_stay", says="is gone, but should have stayed")
def erases_a_dequantize_with_another_user(module):
    """Its other users read what it rounded."""
    for near in module.graph.find_nodes(op="call_function", target=quantize):
        far = near.args[0]
        if far.target is dequantize and far.args[1:] == near.args[1:]:
            near.replace_all_uses_with(far.args[0])
            module.graph.erase_node(near)
            far.replace_all_uses_with(far.args[0].args[0] if far.args[0].args else far.args[0])
            module.graph.erase_node(far)
    module.recompile()


@breaks("Everything else stays, even if it has no users:", case="calls in between")
@wrong("others_stay", says="is gone, but should have stayed")
def cleans_up_with_eliminate_dead_code(module):
    drop(module)
    module.graph.eliminate_dead_code()
    module.recompile()


@breaks("Let the users of the `quantize` use what the `dequantize` reads instead.", case="pairs between layers")
@wrong("users_read_the_integers", node="dequantize_per_tensor_default_1", says="instead of")
def gives_the_floats_to_the_users(module):
    for near in module.graph.find_nodes(op="call_function", target=quantize):
        far = near.args[0]
        if far.target is dequantize and far.args[1:] == near.args[1:]:
            others = [user for user in far.users if user is not near]
            near.replace_all_uses_with(far if others else far.args[0])
            module.graph.erase_node(near)
            if not far.users:
                module.graph.erase_node(far)
    module.recompile()


@breaks("Recompile the module.", case="pairs between layers")
@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(module):
    drop(module)


@wrong(
    "lints",
    node="dequantize_per_tensor_default_4",
    says="which is not in this graph",
    read="01_node_creation#does-not-belong-to-this-graph-but-was-used-as-an-argument",
)
def collects_what_is_erased_later(module):
    calls = module.graph.find_nodes(op="call_function", target=quantize)
    pairs = [(near, near.args[0], near.args[0].args[0]) for near in calls if near.args[0].target is dequantize]
    for near, far, integers in [(near, far, i) for near, far, i in pairs if near.args[1:] == far.args[1:]]:
        near.replace_all_uses_with(integers)
        module.graph.erase_node(near)
        if not far.users:
            module.graph.erase_node(far)
    module.recompile()


@breaks("Everything else stays, even if it has no users:", case="pairs between layers")
@wrong("same_result", node="quantize_per_tensor_default_6", says="The result is not the one asked for")
def makes_other_pairs_alike(module):
    drop(module)
    for near in module.graph.find_nodes(op="call_function", target=quantize):
        if near.args[0].target is dequantize:
            near.args = (near.args[0], *near.args[0].args[1:])
    module.recompile()
