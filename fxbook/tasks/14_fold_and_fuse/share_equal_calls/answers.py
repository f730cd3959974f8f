"""Answers to 14-share-equal-calls: of equal calls, only one is kept."""

import copy
import itertools
import operator

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

PURE = {torch.sin, torch.exp, torch.add, torch.mul, torch.cat, operator.add, operator.mul, "sum", "abs"}
SYMMETRIC = {torch.add, torch.mul, operator.add, operator.mul}


def spelled(value, types=True):
    if isinstance(value, fx.Node):
        return value
    if isinstance(value, tuple | list):
        return (type(value) if types else tuple, *(spelled(one, types) for one in value))
    return (type(value), repr(value)) if types else value


def key_of(node, types=True, in_order=sorted):
    args = tuple(spelled(value, types) for value in node.args)
    if node.target in SYMMETRIC and not node.kwargs:
        args = frozenset(args)
    return (node.op, node.target, args, *((name, spelled(node.kwargs[name], types)) for name in in_order(node.kwargs)))


def is_pure(node):
    return node.op in ("call_function", "call_method") and node.target in PURE


def share(traced, key=key_of, returned=True, erase=True, compile_it=True):
    """The solution, with parameters for what a wrong answer leaves out."""
    first, output = {}, traced.graph.output_node()
    for node in list(traced.graph.nodes):
        if not is_pure(node):
            continue
        earlier = first.setdefault(key(node), node)
        if earlier is node or (returned and output in node.users and output in earlier.users):
            continue
        node.replace_all_uses_with(earlier)
        if erase:
            traced.graph.erase_node(node)
    if compile_it:
        traced.recompile()


@right
def repeats_until_nothing_changes(traced):
    """Merges one pair of calls, and starts again."""

    def one_pair():
        output = traced.graph.output_node()
        for earlier, node in itertools.combinations(filter(is_pure, traced.graph.nodes), 2):
            both = output in node.users and output in earlier.users
            if key_of(node) == key_of(earlier) and not both:
                node.replace_all_uses_with(earlier)
                traced.graph.erase_node(node)
                return True
        return False

    while one_pair():
        pass
    traced.recompile()
    return traced


@right
def spells_calls_as_texts(traced):
    """Names each node by its unique name, and sorts two arguments as text."""

    def text(node):
        args = [str(spelled(value)) for value in node.args]
        named = sorted((name, str(spelled(value))) for name, value in node.kwargs.items())
        return str((node.op, str(node.target), args if named or node.target not in SYMMETRIC else sorted(args), named))

    share(traced, key=text)


@right
def compares_the_arguments_one_by_one(traced):
    """Compares the calls themselves, not keys made from them."""

    def same(one, other):
        if type(one) is not type(other):
            return False
        if isinstance(one, tuple | list):
            return len(one) == len(other) and all(map(same, one, other))
        return one is other or (not isinstance(one, fx.Node) and repr(one) == repr(other))

    def equal(one, other):
        if one.op != other.op or one.target != other.target or one.kwargs.keys() != other.kwargs.keys():
            return False
        named = all(same(one.kwargs[name], other.kwargs[name]) for name in one.kwargs)
        swapped = one.target in SYMMETRIC and not one.kwargs and same(one.args, other.args[::-1])
        return named and (swapped or same(one.args, other.args))

    kept, output = [], traced.graph.output_node()
    for node in filter(is_pure, list(traced.graph.nodes)):
        others = kept if output not in node.users else [each for each in kept if output not in each.users]
        earlier = next((each for each in others if equal(node, each)), None)
        if earlier is None:
            kept.append(node)
        else:
            node.replace_all_uses_with(earlier)
            traced.graph.erase_node(node)
    traced.recompile()


@right
def rebuilds_the_graph(traced):
    """Copies only the first of several equal calls."""
    last = set(traced.graph.output_node().all_input_nodes)
    new, found, first, returned = fx.Graph(), {}, {}, set()
    for node in traced.graph.nodes:
        copied = new.node_copy(node, lambda old: found[old])
        earlier = first.setdefault(key_of(copied), copied) if is_pure(copied) else copied
        found[node] = earlier
        if earlier is copied or (node in last and earlier in returned):
            found[node] = copied
        else:
            new.erase_node(copied)
        if node in last:
            returned.add(found[node])
    traced.graph = new
    return traced


@right
def numbers_the_values(traced):
    """Two equal results that both stay get the same number, so calls on them are equal."""
    output, number, first = traced.graph.output_node(), {}, {}
    for node in list(traced.graph.nodes):
        number[node] = node
        if not is_pure(node):
            continue
        args, kwargs = node.args, node.kwargs
        node.args, node.kwargs = fx.node.map_arg((args, kwargs), number.get)
        number[node] = earlier = first.setdefault(key_of(node), node)
        node.args, node.kwargs = args, kwargs
        if node is not earlier and not {node, earlier} <= {*output.all_input_nodes}:
            node.replace_all_uses_with(earlier)
            traced.graph.erase_node(node)
    traced.recompile()


@breaks(
    "where several calls to members of `PURE` are equal, keep only one.",
    "If merging makes other calls equal, merge those too.",
    case="two equal formulas",
)
@wrong("equal_calls_are_one", node="abs_2", says="and one of the two must go")
def makes_the_keys_beforehand(traced):
    """Merging two calls then does not change the keys of their users."""
    keys = {node: key_of(node) for node in traced.graph.nodes}
    share(traced, key=lambda node: keys[node])


@breaks("or constants with the same value *and* the same type,", case="whole numbers")
@wrong("equal_calls_alone_merge", node="mul_5", says="`torch.mul(x, True)` is not `torch.mul(x, 1)`")
def compares_constants_by_value(traced):
    share(traced, key=lambda node: key_of(node, types=False))


@breaks("keep only one.", "Two calls are equal if", case="results that are equal")
@wrong("equal_calls_are_one", node="sin_1", says="node `sin_1` is equal to `sin`, and one of the two must go")
def leaves_calls_without_users(traced):
    share(traced, key=lambda node: key_of(node) if node.users else node)


@breaks("Keywords may come in any order,", case="whole numbers")
@wrong("equal_calls_are_one", node="sum_2", says="and one of the two must go")
def keeps_the_order_of_keywords(traced):
    share(traced, key=lambda node: key_of(node, in_order=list))


@breaks("and so does a call to anything that is not in `PURE`,", case="two equal formulas")
@wrong("others_stay", says="is gone, but should have stayed")
def cleans_up_with_eliminate_dead_code(traced):
    share(traced, erase=False)
    traced.graph.eliminate_dead_code()
    traced.recompile()


@breaks("If the graph returns two equal calls, both stay:", case="results that are equal")
@wrong("results_apart", node="sin_2", says="is returned twice")
def merges_results(traced):
    share(traced, returned=False)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    share(traced, compile_it=False)


@breaks("Edit a traced module in place:", case="two equal formulas")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    own = copy.deepcopy(traced)
    share(own)
    return own


@breaks("Edit a traced module in place:", case="two equal formulas")
@wrong("edited", says="it was traced or built again")
def traces_again(traced):
    share(traced)
    return fx.symbolic_trace(traced)


@wrong("lints", node="abs_1", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def keeps_the_later_call(traced):
    """Users that come before the later call then use it before it is defined."""
    last = {}
    for node in reversed(list(traced.graph.nodes)):
        if is_pure(node):
            later = last.setdefault(key_of(node), node)
            if later is not node:
                node.replace_all_uses_with(later)
                traced.graph.erase_node(node)
    traced.recompile()


@breaks("if the call has no keyword argument:", case="whole numbers")
@wrong("same_result", node="add_6", says="Node `add_6` is the first whose value is not what it should be")
def sorts_the_arguments(traced):
    share(traced, compile_it=False)
    for node in traced.graph.find_nodes(op="call_function", target=torch.add):
        node.args = tuple(sorted(node.args, key=str))
    traced.recompile()


@breaks("Every other node stays as it is, even if it has no users,", case="results that are equal")
@wrong("different_calls_stay", says="the graph calls `torch.sin` 2 times, but 3 of the given calls must stay")
def erases_unused_calls_of_pure(traced):
    share(traced, compile_it=False)
    for node in filter(is_pure, reversed(list(traced.graph.nodes))):
        if not node.users:
            traced.graph.erase_node(node)
    traced.recompile()
