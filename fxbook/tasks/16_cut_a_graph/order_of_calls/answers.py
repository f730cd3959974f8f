"""Answers to 16-order-of-calls: a topological order of the parts, or None."""

import functools
import graphlib

from torch import fx
from torch.fx.passes.split_module import split_module

from fxbook.tasks.answering import breaks, right, wrong


def uses(graph, parts):
    """Pairs of different parts, the first of which uses a value of the second."""
    return sorted({(user, made) for user, made in all_uses(graph, parts) if user != made})


def all_uses(graph, parts):
    """For each use of a value, the part that uses it and the part that makes it, which may be the same."""
    for node in graph.nodes:
        for arg in node.all_input_nodes:
            if node.name in parts and arg.name in parts:
                yield parts[node.name], parts[arg.name]


def sort(parts, pairs):
    """An order in which each part comes after the parts that it uses; None if there is no such order."""
    sorter = graphlib.TopologicalSorter({part: [] for part in parts})
    for user, made in pairs:
        sorter.add(user, made)
    try:
        return list(sorter.static_order())
    except graphlib.CycleError:
        return None


@right
def uses_graphlib(graph, parts):
    return sort(parts.values(), uses(graph, parts))


@right
def uses_split_module(graph, parts):
    module = fx.GraphModule(graph.owning_module or {}, graph)
    try:
        result = split_module(module, None, lambda node: parts[node.name])
    except RuntimeError:
        return None
    return [node.target.removeprefix("submod_") for node in result.graph.find_nodes(op="call_module")]


@right
def computes_reachability(graph, parts):
    """Warshall's algorithm: a part that reaches itself is on a cycle."""
    names = sorted(set(parts.values()))
    reach = {(user, made) for user, made in uses(graph, parts)}
    for by in names:
        reach |= {(a, b) for a in names for b in names if (a, by) in reach and (by, b) in reach}
    if any((name, name) in reach for name in names):
        return None
    return sorted(names, key=lambda name: sum((name, made) in reach for made in names))


@right
def counts_what_each_part_waits_for(graph, parts):
    """Kahn's algorithm."""
    pairs = uses(graph, parts)
    waits = {part: sum(user == part for user, _ in pairs) for part in parts.values()}
    order, ready = [], [part for part, count in waits.items() if count == 0]
    while ready:
        order.append(done := ready.pop())
        for user, made in pairs:
            if made == done:
                waits[user] -= 1
                if waits[user] == 0:
                    ready.append(user)
    return order if len(order) == len(waits) else None


@breaks("Return `None` if there is no such order.", case="a part that the calls return to")
@wrong("can_be_called", says="are on a cycle, so the answer should be `None`")
def takes_the_order_of_the_list(graph, parts):
    return list(dict.fromkeys(parts.values()))


@breaks("each part comes after all other parts whose values it uses.", case="a chain in pieces")
@wrong("can_be_called", says="but these parts can be called")
def counts_uses_within_a_part(graph, parts):
    return sort(parts.values(), all_uses(graph, parts))


@wrong("can_be_called", says="are on a cycle, so the answer should be `None`")
def finds_only_cycles_of_two_parts(graph, parts):
    pairs = uses(graph, parts)
    if any((made, user) in pairs for user, made in pairs):
        return None
    depth = dict.fromkeys(parts.values(), 0)
    for _ in depth:
        for user, made in pairs:
            depth[user] = max(depth[user], min(depth[made] + 1, len(depth)))
    return sorted(depth, key=depth.get)


@breaks("after all other parts", case="a part that needs two others")
@wrong("can_be_called", says="(a part that needs two others): node `stack` uses `sin`")
def keeps_only_the_last_use_of_a_part(graph, parts):
    last = {part: set() for part in parts.values()}
    last |= {user: {made} for user, made in all_uses(graph, parts) if user != made}
    order = []
    while ready := [part for part in last if part not in order and last[part] <= set(order)]:
        order.append(ready[0])
    return order if len(order) == len(last) else None


@breaks("after all other parts", case="two branches")
@wrong("can_be_called", says="comes after part")
def compares_parts_two_by_two(graph, parts):
    """A sort needs a total order, because it does not compare every pair of parts."""
    pairs = uses(graph, parts)
    compared = functools.cmp_to_key(lambda one, other: ((one, other) in pairs) - ((other, one) in pairs))
    return sort(parts.values(), pairs) and sorted(dict.fromkeys(parts.values()), key=compared)


@breaks("Return `None` if", case="no call")
@wrong("can_be_called", says="(no call): the answer is None, but `parts` is empty")
def returns_none_for_an_empty_list(graph, parts):
    return uses_graphlib(graph, parts) or None


@wrong("can_be_called", says="not a list that has each part once")
def leaves_out_parts_without_neighbours(graph, parts):
    return sort([], uses(graph, parts))


@breaks(
    "in an order in which the parts can be called",
    "Return the parts in an order in which they can be called, or None.",
    case="a chain in pieces",
)
@wrong("can_be_called", says="comes after part")
def reverses_the_order(graph, parts):
    known = uses_graphlib(graph, parts)
    return None if known is None else known[::-1]


@breaks("Return a list with each part once", case="a chain in pieces")
@wrong("can_be_called", says="not a list that has each part once")
def lists_each_node(graph, parts):
    known = uses_graphlib(graph, parts)
    return None if known is None else [parts[node.name] for node in graph.nodes if node.name in parts]


@wrong(
    "ends well",
    says="cycle exists between partitions!",
    read="when_it_breaks/16_cut_a_graph#runtimeerror-cycle-exists-between-partitions",
)
def does_not_catch_the_error(graph, parts):
    module = fx.GraphModule(graph.owning_module or {}, graph)
    result = split_module(module, None, lambda node: parts[node.name])
    return [node.target.removeprefix("submod_") for node in result.graph.find_nodes(op="call_module")]


@breaks("in an order in which the parts can be called", case="a chain in reverse alphabetical order")
@wrong("can_be_called", says="but these parts can be called")
def inserts_each_part_after_those_it_uses(graph, parts):
    """A part is not moved when a part that it uses comes later in the dict."""
    pairs, order = uses(graph, parts), []
    for part in dict.fromkeys(parts.values()):
        places = [order.index(made) for user, made in pairs if user == part and made in order]
        order.insert(max(places, default=-1) + 1, part)
    return None if any(order.index(made) > order.index(user) for user, made in pairs) else order
