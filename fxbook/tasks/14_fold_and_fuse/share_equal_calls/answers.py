"""Answers to 14-share-equal-calls: equal calls are made once."""

import copy
import operator

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

EQUAL = "14_fold_and_fuse#equal-calls-are-made-once"
PURE = {torch.sin, torch.exp, torch.add, torch.mul, torch.cat, operator.add, operator.mul, "sum", "abs"}
SYMMETRIC = {torch.add, torch.mul, operator.add, operator.mul}


def spelled(value, types=True):
    if isinstance(value, fx.Node):
        return value
    if isinstance(value, tuple | list):
        return (type(value) if types else tuple, *(spelled(one, types) for one in value))
    return (type(value), repr(value)) if types else value


def key_of(node, types=True, keywords="sorted", op=True, either=lambda node: not node.kwargs):
    named = [(name, spelled(value, types)) for name, value in node.kwargs.items()]
    if keywords == "sorted":
        named.sort(key=lambda pair: pair[0])
    args = tuple(spelled(value, types) for value in node.args)
    if node.target in SYMMETRIC and either(node):
        args = frozenset(args)
    return (node.op if op else "", node.target, args, *(named if keywords else []))


def is_pure(node):
    return node.op in ("call_function", "call_method") and node.target in PURE


def share(traced, key=key_of, pure=is_pure, returned=True, erase=True, compile_it=True):
    """What the solution does, and what a wrong answer leaves out."""
    first, output = {}, traced.graph.output_node()
    for node in list(traced.graph.nodes):
        if not pure(node):
            continue
        earlier = first.setdefault(key(node), node)
        if earlier is node or (returned and output in node.users and output in earlier.users):
            continue
        node.replace_all_uses_with(earlier)
        if erase:
            traced.graph.erase_node(node)
    if compile_it:
        traced.recompile()


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def repeats_until_nothing_changes(traced):
    """Pair by pair, from the start again after each merge."""

    def one_pair():
        output = traced.graph.output_node()
        nodes = [node for node in traced.graph.nodes if is_pure(node)]
        for place, node in enumerate(nodes):
            for earlier in nodes[:place]:
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


def text_of(node):
    """The key as text: the names of nodes are their own, and two arguments are sorted as texts."""
    args = [str(spelled(value)) for value in node.args]
    if node.target in SYMMETRIC and not node.kwargs:
        args.sort()
    return node.op, str(node.target), args, sorted((name, str(spelled(value))) for name, value in node.kwargs.items())


@right
def groups_by_target_first(traced):
    for target in PURE:
        for op in ("call_function", "call_method"):
            traced.graph.find_nodes(op=op, target=target)
    share(traced, key=lambda node: str(text_of(node)))


@right
def compares_the_arguments_one_by_one(traced):
    """Without a key."""

    def same(one, other):
        if type(one) is not type(other):
            return False
        if isinstance(one, tuple | list):
            return len(one) == len(other) and all(map(same, one, other))
        return one is other or (not isinstance(one, fx.Node) and repr(one) == repr(other))

    def equal(one, other):
        if one.op != other.op or one.target != other.target or one.kwargs.keys() != other.kwargs.keys():
            return False
        if not all(same(one.kwargs[name], other.kwargs[name]) for name in one.kwargs):
            return False
        turned = one.target in SYMMETRIC and not one.kwargs and same(one.args, other.args[::-1])
        return turned or same(one.args, other.args)

    kept, output = [], traced.graph.output_node()
    for node in list(traced.graph.nodes):
        if not is_pure(node):
            continue
        for earlier in kept:
            if equal(node, earlier) and not (output in node.users and output in earlier.users):
                node.replace_all_uses_with(earlier)
                traced.graph.erase_node(node)
                break
        else:
            kept.append(node)
    traced.recompile()


@right
def rebuilds_the_graph(traced):
    """A new graph in which an equal call is not copied."""
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


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("Calls that read equal calls become equal too.", case="two equal formulas")
@wrong("equal_calls_are_one", node="abs_2", says="and one of the two is enough", read=EQUAL)
def compares_the_text_of_the_calls(traced):
    """Names of nodes before anything is merged: calls that become equal are missed."""
    keys = {node: key_of(node) for node in traced.graph.nodes}
    share(traced, key=lambda node: keys[node])


@breaks("so a call of anything that is not in `PURE` stays, even twice,", case="layers and methods of one name")
@wrong("others_stay", says="(layers and methods of one name): ", read=EQUAL)
def goes_by_the_target_alone(traced):
    share(traced, pure=lambda node: node.target in PURE)


@breaks("or constants of the same value *and* the same type,", case="whole numbers")
@wrong("equal_calls_alone_merge", node="mul_5", says="`torch.mul(x, True)` is not `torch.mul(x, 1)`", read=EQUAL)
def compares_constants_by_value(traced):
    share(traced, key=lambda node: key_of(node, types=False))


@breaks("of equal calls of `PURE`, one stays.", case="each pure call twice")
@wrong("equal_calls_are_one", node="cat_1", says="(each pure call twice): ", read=EQUAL)
def leaves_one_function_out(traced):
    share(traced, pure=lambda node: is_pure(node) and node.target is not torch.cat)


@wrong("ends well", says="has no len()")
def takes_the_other_for_a_list_too(traced):
    """The same place may hold a number in one call and a list in another."""

    def same(one, other):
        if isinstance(one, tuple | list):
            return len(one) == len(other) and all(map(same, one, other))
        return one is other or (type(one) is type(other) is not fx.Node and repr(one) == repr(other))

    def is_equal(node, other):
        if node.target != other.target or len(node.args) != len(other.args) or node.kwargs != other.kwargs:
            return False
        turned = other.args[::-1] if node.target in SYMMETRIC and not node.kwargs else other.args
        return all(map(same, node.args, other.args)) or all(map(same, node.args, turned))

    kept = []
    for node in filter(is_pure, list(traced.graph.nodes)):
        for earlier in kept:
            if is_equal(node, earlier):
                node.replace_all_uses_with(earlier)
                traced.graph.erase_node(node)
                break
        else:
            kept.append(node)
    traced.recompile()


@breaks("or tuples and lists of such.", case="each pure call twice")
@wrong("equal_calls_alone_merge", node="cat", says="stands in the place of `cat_4`, and the two differ", read=EQUAL)
def compares_lists_up_to_the_end_of_the_shorter(traced):
    """As `zip` does."""

    def key(node):
        return (*key_of(node)[:2], *node.args[0][:2]) if node.target is torch.cat else key_of(node)

    share(traced, key=key)


@breaks("with equal arguments.", case="whole numbers")
@wrong("equal_calls_alone_merge", node="sum_1", says="stands in the place of `sum_3`, and the two differ", read=EQUAL)
def compares_the_first_keyword(traced):
    share(traced, key=lambda node: key_of(node)[:4])


@breaks("Keywords may stand in any order,", case="whole numbers")
@wrong("equal_calls_are_one", node="sum_2", says="and one of the two is enough", read=EQUAL)
def keeps_the_order_of_keywords(traced):
    share(traced, key=lambda node: key_of(node, keywords="as written"))


@breaks("The two arguments of a call of `SYMMETRIC` may stand in either order,", case="two equal formulas")
@wrong("equal_calls_are_one", node="mul_1", says="is equal to `mul`, and one of the two is enough", read=EQUAL)
def keeps_the_order_of_a_product(traced):
    share(traced, key=lambda node: key_of(node, either=lambda node: False))


@breaks("if it has no keyword:", case="whole numbers")
@wrong("equal_calls_alone_merge", node="add_4", says="stands in the place of `add_6`, and the two differ", read=EQUAL)
def turns_a_sum_with_alpha(traced):
    share(traced, key=lambda node: key_of(node, either=lambda node: True))


@breaks("and even if nobody reads it.", case="two equal formulas")
@wrong("others_stay", says="or a call like it is gone, and is not in `PURE`", read=EQUAL)
def cleans_up_with_eliminate_dead_code(traced):
    share(traced, erase=False)
    traced.graph.eliminate_dead_code()
    traced.recompile()


@breaks("If the graph returns two equal calls, both stay:", case="results that are equal")
@wrong("results_apart", node="sin", says="is returned twice", read=EQUAL)
def merges_results(traced):
    share(traced, returned=False)


@breaks("If the graph returns two equal calls, both stay:", case="results that are equal")
@wrong("equal_calls_are_one", node="exp_4", says="(results that are equal): ", read=EQUAL)
def keeps_both_if_the_earlier_is_returned(traced):
    first, output = {}, traced.graph.output_node()
    for node in filter(is_pure, list(traced.graph.nodes)):
        earlier = first.setdefault(key_of(node), node)
        if earlier is not node and output not in earlier.users:
            node.replace_all_uses_with(earlier)
            traced.graph.erase_node(node)
    traced.recompile()


@breaks("Two calls are equal if they call the same function, or the same method,", case="two equal formulas")
@wrong("equal_calls_are_one", node="abs_2", says="and one of the two is enough", read=EQUAL)
def knows_functions_alone(traced):
    share(traced, pure=lambda node: node.op == "call_function" and is_pure(node))


@breaks("of equal calls of `PURE`, one stays.", case="two equal formulas")
@wrong("no_dead_nodes", node="exp_1", says="is dead: no node uses its result")
def leaves_the_calls_behind(traced):
    share(traced, erase=False)


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
@wrong("edited", says="it was traced or built anew")
def traces_again(traced):
    share(traced)
    return fx.symbolic_trace(traced)


@wrong("lints", node="abs_1", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def keeps_the_later_call(traced):
    """Users that stand before it read it too early."""
    last = {}
    for node in reversed(list(traced.graph.nodes)):
        if is_pure(node):
            later = last.setdefault(key_of(node), node)
            if later is not node:
                node.replace_all_uses_with(later)
                traced.graph.erase_node(node)
    traced.recompile()


@wrong("same_result", node="add_6", says="Node `add_6` is the first whose value is not what it should be")
def sorts_the_arguments(traced):
    """Those of a sum with `alpha` too."""
    share(traced, compile_it=False)
    for node in traced.graph.find_nodes(op="call_function", target=torch.add):
        node.args = tuple(sorted(node.args, key=str))
    traced.recompile()


@wrong("different_calls_stay", says="The graph calls `operator.add`", read=EQUAL)
def spells_sums_one_way(traced):
    for node in traced.graph.find_nodes(op="call_function", target=operator.add):
        node.target = torch.add
    share(traced)


@breaks("or constants of the same value", case="whole numbers")
@wrong("equal_calls_alone_merge", node="add_18", says="`torch.add(y, -1)` is not `torch.add(y, -2)`")
def compares_numbers_by_their_hash(traced):
    """Which is the same for -1 and -2."""

    def hashed(node):
        parts = [hash((type(one), one)) if isinstance(one, int | float) else spelled(one) for one in node.args]
        either = node.target in SYMMETRIC and not node.kwargs
        return node.op, node.target, frozenset(parts) if either else tuple(parts), str(key_of(node)[3:])

    share(traced, key=hashed)
