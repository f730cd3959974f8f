"""Answers to 15-one-call-for-attention: written-out attention becomes a call to scaled_dot_product_attention."""

import copy
import operator

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

sdpa = nn.functional.scaled_dot_product_attention


def softmaxes(graph):
    return graph.find_nodes(op="call_function", target=torch.softmax)


def parts_of(softmax):
    """The query, the transposed key, the scale and the mask of a softmax, and its user."""
    scores, mask = softmax.args[0], None
    if scores.target is operator.add:
        scores, mask = scores.args
    product, scale = scores.args
    return *product.args, scale, mask, next(iter(softmax.users))


def scaled(softmax):
    """The scores of a softmax, without the mask."""
    scores = softmax.args[0]
    return scores.args[0] if scores.target is operator.add else scores


CONDITIONS = {
    "dimension": lambda softmax: softmax.args[1:] == (-1,),
    "values": lambda softmax: next(iter(softmax.users)).target is operator.matmul,
    "left": lambda softmax: next(iter(softmax.users)).args[0] is softmax,
    "users": lambda softmax: len(softmax.users) == 1,
    "mul": lambda softmax: scaled(softmax).target is operator.mul,
    "scale": lambda softmax: isinstance(scaled(softmax).args[1], int | float),
    "product": lambda softmax: getattr(scaled(softmax).args[0], "target", None) is operator.matmul,
    "key": lambda softmax: parts_of(softmax)[1].target == "transpose",
    "turned": lambda softmax: parts_of(softmax)[1].args[1:] == (-2, -1),
}


def may_go(softmax, but=""):
    return all(is_met(softmax) for name, is_met in CONDITIONS.items() if name != but)


def erase_upwards(graph, node):
    """Erase a node without users, and then the nodes that have no users left."""
    waiting = [node]
    while waiting:
        last = waiting.pop()
        if not last.users and last.op.startswith("call"):
            above = last.all_input_nodes
            graph.erase_node(last)
            waiting.extend(one for one in above if one not in waiting)


def finish(module):
    module.graph.lint()
    module.recompile()


def fuse(module, *, only=may_go, erase=True, **change):
    """The solution, with parameters for what a wrong answer changes."""
    for softmax in filter(only, softmaxes(module.graph)):
        query, turned, scale, mask, result = parts_of(softmax)
        parts = {"query": query, "key": turned.args[0], "value": result.args[1], "attn_mask": mask, "scale": scale}
        with module.graph.inserting_before(result):
            new = module.graph.call_function(sdpa, (), parts | change)
        result.replace_all_uses_with(new)
    if erase:
        module.graph.eliminate_dead_code()
    finish(module)


@right
def removes_dead_code(module):
    fuse(module)


@right
def walks_from_the_products(module):
    for result in module.graph.find_nodes(op="call_function", target=operator.matmul):
        softmax = result.args[0]
        if softmax.target is torch.softmax and softmax.args[1:] == (-1,) and list(softmax.users) == [result]:
            if not all(CONDITIONS[name](softmax) for name in ("mul", "scale", "product", "key", "turned")):
                continue
            query, turned, scale, mask, _ = parts_of(softmax)
            with module.graph.inserting_before(result):
                new = module.graph.call_function(sdpa, (query, turned.args[0], result.args[1], mask, 0.0, False))
                new.update_kwarg("scale", scale)
            result.replace_all_uses_with(new)
            module.graph.erase_node(result)
            erase_upwards(module.graph, softmax)
    finish(module)


@right
def replaces_one_and_begins_again(module):
    while found := list(filter(may_go, softmaxes(module.graph))):
        query, turned, scale, mask, result = parts_of(found[0])
        with module.graph.inserting_before(result):
            new = module.graph.create_node(
                "call_function", sdpa, (query, turned.args[0], result.args[1], mask), {"scale": scale}, "attention"
            )
        result.replace_all_uses_with(new)
        erase_upwards(module.graph, result)
    finish(module)


@right
def builds_another_graph(module):
    going = {next(iter(softmax.users)): parts_of(softmax) for softmax in softmaxes(module.graph) if may_go(softmax)}
    graph, env = fx.Graph(module), {}
    for node in module.graph.nodes:
        if node in going:
            query, turned, scale, mask, _ = going[node]
            parts = [env[part] for part in (query, turned.args[0], node.args[1])]
            env[node] = graph.call_function(sdpa, (*parts, mask and env[mask]), {"scale": scale})
        else:
            env[node] = graph.node_copy(node, env.__getitem__)
    graph.eliminate_dead_code()
    module.graph = graph
    finish(module)


@breaks("with the same scale and mask.", case="the attention of Llama")
@wrong("same_result", node="transpose_4", says="it holds different numbers")
def forgets_the_mask(module):
    fuse(module, attn_mask=None)


@breaks(
    "Leave alone everything that only resembles it:",
    "a softmax whose dimension is not the positional argument `-1`;",
    case="several places, some of which stay",
)
@wrong("each_in_one_call", says="and its user should stay: its dimension is not the positional argument -1")
def ignores_the_dimension(module):
    fuse(module, only=lambda softmax: may_go(softmax, "dimension"))


@breaks("a softmax whose result has several users,", case="several places, some of which stay")
@wrong("each_in_one_call", says="and its users should stay: it has")
def ignores_other_users_of_the_weights(module):
    fuse(module, only=lambda softmax: may_go(softmax, "users"))


@breaks(
    "scores that are divided, that are not scaled, whose scale is a node or the left operand,",
    case="several places, some of which stay",
)
@wrong("each_in_one_call", says="node `softmax_15` and its user should stay: its scores are divided")
def ignores_how_scores_are_scaled(module):
    fuse(module, only=lambda softmax: may_go(softmax, "mul"))


@breaks("scores whose right operand is not written as `transpose(-2, -1)`.", case="several places, some of which stay")
@wrong("each_in_one_call", says="the right operand of its scores is not written as `transpose(-2, -1)`")
def ignores_the_transposed_dimensions(module):
    fuse(module, only=lambda softmax: may_go(softmax, "turned"))


@breaks("In some places the `+ mask` is missing.", case="several places, some of which stay")
@wrong("each_in_one_call", node="softmax_4", says="is still the softmax of attention that one call can replace")
def replaces_only_attention_with_a_mask(module):
    fuse(module, only=lambda softmax: may_go(softmax) and softmax.args[0].target is operator.add)


@breaks(
    "your function replaces the attention even if other nodes use the scores, and keeps the scores for them.",
    case="several places, some of which stay",
)
@wrong("each_in_one_call", node="softmax_5", says="one call can replace, even if 2 nodes use `add")
def keeps_attention_whose_scores_have_other_users(module):
    fuse(module, only=lambda softmax: may_go(softmax) and len(softmax.args[0].users) == 1)


@breaks(
    "and leave no dead nodes:",
    "erase `k.transpose(-2, -1)` too if it has no other user.",
    case="the attention of Llama",
)
@wrong("no_dead_nodes", node="matmul_1", read="02_insertion_points#a-new-node-needs-a-user", says="no node uses its")
def leaves_the_old_nodes(module):
    fuse(module, erase=False)


@wrong("recompiled", read="00_first_graph#change-one-node", says="the compiled code is stale")
def does_not_recompile(module):
    for softmax in filter(may_go, softmaxes(module.graph)):
        query, turned, scale, mask, result = parts_of(softmax)
        result.target, result.args = sdpa, (query, turned.args[0], result.args[1])
        result.kwargs = {"attn_mask": mask, "scale": scale}
    module.graph.eliminate_dead_code()


@wrong("edited", says="it was traced or built again")
def edits_a_new_trace(module):
    again = fx.symbolic_trace(module)
    fuse(again)
    return again


@breaks("Edit the module in place", case="the attention of Llama")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(module):
    module = copy.deepcopy(module)
    fuse(module)
    return module


@breaks("Replace each such expression with one call to `sdpa`", case="the attention of Llama")
@wrong(
    "lints",
    node="scaled_dot_product_attention",
    says="before it is defined",
    read="02_insertion_points#two-nodes-one-anchor",
)
def puts_the_call_at_the_softmax(module):
    for softmax in filter(may_go, softmaxes(module.graph)):
        query, turned, scale, mask, result = parts_of(softmax)
        with module.graph.inserting_before(softmax):
            parts = (query, turned.args[0], result.args[1])
            new = module.graph.call_function(sdpa, parts, {"attn_mask": mask, "scale": scale})
        result.replace_all_uses_with(new)
        erase_upwards(module.graph, result)
    module.recompile()
