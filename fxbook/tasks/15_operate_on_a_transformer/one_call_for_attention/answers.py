"""Answers to 15-one-call-for-attention: scaled_dot_product_attention in place of attention that is written out."""

import operator

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

sdpa = nn.functional.scaled_dot_product_attention


def softmaxes(graph):
    return graph.find_nodes(op="call_function", target=torch.softmax)


def parts_of(softmax):
    """The query, the transposed key, the scale and the mask of a softmax, and the node that reads it."""
    scores, mask = softmax.args[0], None
    if scores.target is operator.add:
        scores, mask = scores.args
    product, scale = scores.args
    return *product.args, scale, mask, next(iter(softmax.users))


def is_over_the_keys(softmax):
    return softmax.args[1:] == (-1,)


def is_read_once(softmax):
    return len(softmax.users) == 1


def weighs_values(softmax):
    return next(iter(softmax.users)).target is operator.matmul


def is_on_the_left(softmax):
    return next(iter(softmax.users)).args[0] is softmax


def has_a_key(softmax):
    turned = parts_of(softmax)[1]
    return turned.op == "call_method" and turned.target == "transpose"


def is_turned(softmax):
    return parts_of(softmax)[1].args[1:] == (-2, -1)


def scaled(softmax):
    """The scores of a softmax, without the mask."""
    scores = softmax.args[0]
    return scores.args[0] if scores.target is operator.add else scores


def is_scaled(softmax):
    scores = scaled(softmax)
    return scores.target is operator.mul and isinstance(scores.args[1], int | float)


def multiplies(softmax):
    return getattr(scaled(softmax).args[0], "target", None) is operator.matmul


QUESTIONS = (weighs_values, is_over_the_keys, is_read_once, is_on_the_left, is_scaled, multiplies, has_a_key, is_turned)


def may_go(softmax, *, but=()):
    return all(asks(softmax) for asks in QUESTIONS if asks not in but)


def erase_upwards(graph, node):
    """Erase a node, and whatever only this node has used."""
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


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def removes_dead_code(module):
    for softmax in filter(may_go, softmaxes(module.graph)):
        query, turned, scale, mask, result = parts_of(softmax)
        with module.graph.inserting_before(result):
            parts = {"query": query, "key": turned.args[0], "value": result.args[1]}
            new = module.graph.call_function(sdpa, (), {**parts, "attn_mask": mask, "scale": scale})
        result.replace_all_uses_with(new)
    module.graph.eliminate_dead_code()
    finish(module)


@right
def walks_from_the_products(module):
    for result in module.graph.find_nodes(op="call_function", target=operator.matmul):
        softmax = result.args[0]
        if softmax.target is torch.softmax and softmax.args[1:] == (-1,) and list(softmax.users) == [result]:
            if not is_scaled(softmax) or not multiplies(softmax):
                continue
            query, turned, scale, mask, _ = parts_of(softmax)
            if turned.target != "transpose" or turned.args[1:] != (-2, -1):
                continue
            with module.graph.inserting_before(result):
                new = module.graph.call_function(sdpa, (query, turned.args[0], result.args[1], mask, 0.0, False))
                new.update_kwarg("scale", scale)
            result.replace_all_uses_with(new)
            module.graph.erase_node(result)
            erase_upwards(module.graph, softmax)
    finish(module)


@right
def replaces_one_and_begins_again(module):
    """Until none is left: the list of nodes is read anew each time."""
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
    """A Transformer does not know the users; so the products that go are noted before."""
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


# ---- wrong -----------------------------------------------------------------------------------------------------------


def fuse(module, *, asks=may_go, **change):
    """As `removes_dead_code`, with what a mistake changes."""
    for softmax in filter(asks, softmaxes(module.graph)):
        query, turned, scale, mask, result = parts_of(softmax)
        options = {"attn_mask": mask, "scale": scale, **change}
        with module.graph.inserting_before(result):
            new = module.graph.call_function(sdpa, (query, turned.args[0], result.args[1]), options)
        result.replace_all_uses_with(new)
    module.graph.eliminate_dead_code()
    finish(module)


@breaks("with the same scale", case="the attention of Llama")
@wrong("same_result", node="transpose_4", says="it holds other numbers")
def forgets_the_scale(module):
    fuse(module, scale=None)


@breaks("and mask", case="the attention of Llama")
@wrong("same_result", node="transpose_4", says="it holds other numbers")
def forgets_the_mask(module):
    fuse(module, attn_mask=None)


@breaks(
    "Leave what only resembles it:",
    "a softmax over a dimension that is not written `-1`",
    case="several places, of which some stay",
)
@wrong("each_in_one_call", says="and what uses it were to stay: its dimension is not written -1")
def does_not_ask_for_the_dimension(module):
    fuse(module, asks=lambda softmax: may_go(softmax, but=[is_over_the_keys]))


@breaks("a softmax whose result several nodes use", case="several places, of which some stay")
@wrong("each_in_one_call", says="and what uses it were to stay: several nodes use it")
def does_not_ask_who_reads_the_weights(module):
    fuse(module, asks=lambda softmax: may_go(softmax, but=[is_read_once]))


@breaks("or one on the right of the last product", case="several places, of which some stay")
@wrong("each_in_one_call", says="and what uses it were to stay: it is not the left side of a product")
def does_not_ask_on_which_side_the_softmax_is(module):
    fuse(module, asks=lambda softmax: may_go(softmax, but=[is_on_the_left]))


@breaks("and scores whose right side is not written `transpose(-2, -1)`.", case="several places, of which some stay")
@wrong("each_in_one_call", says="and what uses it were to stay: the right side of its scores is not")
def does_not_ask_which_dimensions_are_exchanged(module):
    fuse(module, asks=lambda softmax: may_go(softmax, but=[is_turned]))


@breaks("scores that are divided,", case="several places, of which some stay")
@wrong("each_in_one_call", says="node `softmax_15` and what uses it were to stay: its scores are divided")
def takes_a_division_for_a_product(module):
    fuse(module, asks=lambda softmax: may_go(softmax, but=[is_scaled]))


@breaks("or are not a product of matrices,", case="several places, of which some stay")
@wrong(
    "each_in_one_call", says="node `softmax_16` and what uses it were to stay: its scores are not a product of matrices"
)
def takes_any_product_for_one_of_matrices(module):
    fuse(module, asks=lambda softmax: may_go(softmax, but=[multiplies]))


@breaks("In some places the `+ mask` is missing.", case="several places, of which some stay")
@wrong("each_in_one_call", node="softmax_4", says="is still the softmax of attention that one call can replace")
def replaces_the_masked_ones_alone(module):
    fuse(module, asks=lambda softmax: may_go(softmax) and softmax.args[0].target is operator.add)


def keep_those_that_share(module, step):
    """Attention stays if several nodes read the step of its scores: the first is that above the softmax."""

    def is_read_once(softmax):
        steps = [softmax.args[0]]
        while steps[-1].target is not operator.matmul:
            steps.append(steps[-1].args[0])
        return len(steps[min(step, len(steps) - 1)].users) == 1

    fuse(module, asks=lambda softmax: may_go(softmax) and is_read_once(softmax))


@breaks(
    "Scores that other nodes use too stay, and the attention is replaced all the same.",
    case="several places, of which some stay",
)
@wrong("each_in_one_call", node="softmax_5", says="that one call can replace, whoever else uses its scores")
def keeps_attention_whose_masked_scores_are_read(module):
    keep_those_that_share(module, 0)


@breaks(
    "and leave no dead nodes:",
    "`k.transpose(-2, -1)` goes too, where it has no other user.",
    case="the attention of Llama",
)
@wrong(
    "no_dead_nodes", node="matmul_1", read="02_insertion_points#a-new-node-needs-a-user", says="no node uses its result"
)
def leaves_the_old_nodes(module):
    for softmax in filter(may_go, softmaxes(module.graph)):
        query, turned, scale, mask, result = parts_of(softmax)
        with module.graph.inserting_before(result):
            parts = (query, turned.args[0], result.args[1])
            new = module.graph.call_function(sdpa, parts, {"attn_mask": mask, "scale": scale})
        result.replace_all_uses_with(new)
    finish(module)


@wrong("recompiled", read="00_first_graph#change-one-node", says="the compiled code is stale")
def does_not_recompile(module):
    for softmax in filter(may_go, softmaxes(module.graph)):
        query, turned, scale, mask, result = parts_of(softmax)
        result.target, result.args = sdpa, (query, turned.args[0], result.args[1])
        result.kwargs = {"attn_mask": mask, "scale": scale}
    module.graph.eliminate_dead_code()


@wrong("edited", says="it was traced or built anew")
def edits_a_new_trace(module):
    again = fx.symbolic_trace(module)
    fuse(again)
    return again


@breaks("Edit the module in place", case="the attention of Llama")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(module):
    import copy

    module = copy.deepcopy(module)
    fuse(module)
    return module


@breaks("Replace each by one call of `sdpa`", case="the attention of Llama")
@wrong("each_in_one_call", node="softmax", says="is still the softmax")
def changes_nothing(module):
    finish(module)


@breaks("Replace each by one call of `sdpa`", case="the attention of Llama")
@wrong(
    "lints",
    node="scaled_dot_product_attention",
    says="before it is defined",
    read="02_insertion_points#two-nodes-one-anchor",
)
def puts_the_call_at_the_softmax(module):
    """The values may be computed later."""
    for softmax in filter(may_go, softmaxes(module.graph)):
        query, turned, scale, mask, result = parts_of(softmax)
        with module.graph.inserting_before(softmax):
            parts = (query, turned.args[0], result.args[1])
            new = module.graph.call_function(sdpa, parts, {"attn_mask": mask, "scale": scale})
        result.replace_all_uses_with(new)
        erase_upwards(module.graph, result)
    module.recompile()


@breaks("scaled by a node", case="several places, of which some stay")
@wrong("each_in_one_call", says="and what uses it were to stay: its scores are scaled from the left, or by a node")
def takes_a_node_for_the_scale(module):
    def is_product(softmax):
        return scaled(softmax).target is operator.mul

    def asks(softmax):
        return is_product(softmax) and multiplies(softmax) and may_go(softmax, but=(is_scaled,))

    fuse(module, asks=asks)
