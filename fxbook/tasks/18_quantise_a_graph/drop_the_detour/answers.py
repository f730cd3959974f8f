"""Answers to 18-drop-the-detour: which calls form a pair, and which other calls use them."""

import copy

import torch
import torch.ao.quantization.fx._decomposed
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

ops = torch.ops.quantized_decomposed
quantize, dequantize = ops.quantize_per_tensor.default, ops.dequantize_per_tensor.default


def is_pair(near):
    """Whether a node is a `quantize` that changes nothing."""
    return near.target is quantize and near.args[0].target is dequantize and near.args[0].args[1:] == near.args[1:]


def drop(module, same=lambda far, near: far.args[1:] == near.args[1:]):
    """Drop the pairs, or whatever a wrong answer takes for a pair."""
    for near in module.graph.find_nodes(op="call_function", target=quantize):
        far = near.args[0]
        if far.target is dequantize and same(far, near):
            near.replace_all_uses_with(far.args[0])
            module.graph.erase_node(near)
            if not far.users:
                module.graph.erase_node(far)


@right
def begins_at_dequantize(module):
    for far in module.graph.find_nodes(op="call_function", target=dequantize):
        near = list(filter(is_pair, far.users))
        for user in near:
            user.replace_all_uses_with(far.args[0])
            module.graph.erase_node(user)
        if near and not far.users:
            module.graph.erase_node(far)
    module.recompile()


@right
def rebuilds_with_a_transformer(module):
    """Keeps all values, because a pair's `quantize` reads a value whose last user is the pair's `dequantize`."""

    class Rebuild(fx.Transformer):
        def run_node(self, n):
            if is_pair(n):
                return self.env[n.args[0].args[0]]
            if n.target is dequantize and n.users and all(map(is_pair, n.users)):
                return None
            return super().run_node(n)

    rebuild = Rebuild(module)
    rebuild.garbage_collect_values = False
    module.graph = rebuild.transform().graph


@right
def collects_first(module):
    """Finds all replacements before it lets any node use one."""
    instead, unneeded = {}, {}
    for node in filter(is_pair, module.graph.nodes):
        far = node.args[0]
        instead[node] = instead.get(far.args[0], far.args[0])
        unneeded[far] = None
    for node in module.graph.nodes:
        node.args = fx.map_arg(node.args, lambda used: instead.get(used, used))
    for node in [*instead, *reversed(unneeded)]:
        if not node.users:
            module.graph.erase_node(node)
    module.recompile()


@right
def copies_the_graph(module):
    """Copies the nodes into a new graph, except for the calls that can go."""
    graph, kept = fx.Graph(), {}
    for node in module.graph.nodes:
        if is_pair(node):
            kept[node] = kept[node.args[0].args[0]]
        elif node.target is not dequantize or not node.users or not all(map(is_pair, node.users)):
            kept[node] = graph.node_copy(node, lambda used: kept[used])
    module.graph = graph


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
@wrong("others_stay", says="and `quantize_per_tensor_default_5` differ in the lower bound")
def ignores_the_bounds(module):
    drop(module, lambda far, near: (*far.args[1:3], far.args[5]) == (*near.args[1:3], near.args[5]))
    module.recompile()


@breaks("a pair with another call in between", case="calls in between")
@wrong("others_stay", says="is gone, but should have stayed")
def drops_a_clone_in_between(module):
    for near in module.graph.find_nodes(op="call_function", target=quantize):
        if (call := near.args[0]).target is torch.ops.aten.clone.default and call.args[0].target is dequantize:
            call.replace_all_uses_with(call.args[0])
            module.graph.erase_node(call)
    drop(module)
    module.recompile()


@breaks("a per-channel pair", case="pairs per channel, and calls without users")
@wrong("others_stay", says="dequantize_per_channel_default` is gone, but should have stayed")
def drops_per_channel_pairs(module):
    for near in module.graph.find_nodes(op="call_function", target=ops.quantize_per_channel.default):
        far = near.args[0]
        if far.target is ops.dequantize_per_channel.default and far.args[1:] == near.args[1:]:
            near.replace_all_uses_with(far.args[0])
            module.graph.erase_node(near)
            module.graph.erase_node(far)
    drop(module)
    module.recompile()


@breaks("Erase the `quantize`,", case="pairs between layers")
@wrong("pairs_are_gone", node="quantize_per_tensor_default_1", says="is still there, although it only undoes")
def leaves_the_calls_behind(module):
    for near in filter(is_pair, module.graph.nodes):
        near.replace_all_uses_with(near.args[0].args[0])
    module.recompile()


@breaks("and also the `dequantize` if nothing else uses it.", case="pairs between layers")
@wrong(
    "unneeded_are_gone", node="dequantize_per_tensor_default_2", says="is still there, although no other call uses it"
)
def leaves_dequantize_behind(module):
    for near in filter(is_pair, module.graph.nodes):
        near.replace_all_uses_with(near.args[0].args[0])
        module.graph.erase_node(near)
    module.recompile()


@breaks("Everything else stays, even if it has no users:", case="pairs per channel, and calls without users")
@wrong("others_stay", says="node `exp_default` is gone, but should have stayed")
def erases_what_a_pair_alone_used(module):
    for near in filter(is_pair, module.graph.nodes):
        node = near.args[0]
        near.replace_all_uses_with(node.args[0])
        module.graph.erase_node(near)
        while node.op == "call_function" and not node.users:
            node, unused = node.args[0], node
            module.graph.erase_node(unused)
    module.recompile()


@breaks("Let the users of the `quantize` use the input of the `dequantize` instead.", case="pairs between layers")
@wrong("users_read_the_integers", node="dequantize_per_tensor_default_1", says="instead of")
def gives_floats_to_the_users(module):
    for near in filter(is_pair, module.graph.nodes):
        far = near.args[0]
        near.replace_all_uses_with(far if len(far.users) > 1 else far.args[0])
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
def collects_nodes_that_it_erases_later(module):
    pairs = [(near, near.args[0], near.args[0].args[0]) for near in filter(is_pair, module.graph.nodes)]
    for near, far, integers in pairs:
        near.replace_all_uses_with(integers)
        module.graph.erase_node(near)
        if not far.users:
            module.graph.erase_node(far)
    module.recompile()


@breaks("Everything else stays, even if it has no users:", case="pairs between layers")
@wrong("same_result", node="quantize_per_tensor_default_6", says="The result is not the one asked for")
def makes_different_pairs_equal(module):
    drop(module)
    for near in module.graph.find_nodes(op="call_function", target=quantize):
        if near.args[0].target is dequantize:
            near.args = (near.args[0], *near.args[0].args[1:])
    module.recompile()
