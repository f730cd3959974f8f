"""Answers to 12-refuse-writes: a filter that rejects matches with a write before their first user."""

import itertools

import torch

from fxbook.tasks.answering import breaks, right, wrong


def writes(node):
    if node.op not in ("call_function", "call_method"):
        return False
    return getattr(node.target, "__name__", str(node.target)).endswith("_")


def nodes_of(match):
    return [node for key, node in match.nodes_map.items() if key.op != "placeholder"]


def end_of(match):
    """The node before which the new nodes go: the first user of the result, or the result if it has no users."""
    [result] = match.returning_nodes
    return min(result.users, default=result)


def crossed(match, first, last):
    """Whether any node that is between these two, but not in the match, writes."""
    inside = nodes_of(match)
    return any(writes(node) for node in first.graph.nodes if first < node < last and node not in inside)


@right
def loops_over_the_graph(match, graph, pattern):
    inside, [result] = set(nodes_of(match)), match.returning_nodes
    begun = False
    for node in graph.nodes:
        if node in result.users or (node is result and not result.users):
            return True
        if node in inside:
            begun = True
        elif begun and writes(node):
            return False
    return True


@right
def looks_up_the_parameters(match, graph, pattern):
    inputs = pattern.find_nodes(op="placeholder")
    inside = {node for key, node in match.nodes_map.items() if key not in inputs}
    [result] = match.returning_nodes
    end = [result, *sorted(result.users, reverse=True)][-1]
    found = [node for node in graph.nodes if min(inside) < node < end]
    return {node for node in found if writes(node)} <= inside


@right
class Filter:
    def __new__(cls, match, graph, pattern):
        inside, end = nodes_of(match), end_of(match)
        rest = itertools.dropwhile(lambda node: node not in inside, graph.nodes)
        between = itertools.takewhile(lambda node: node is not end, rest)
        return ~torch.tensor([writes(node) for node in between if node not in inside] or [False]).any()


@right
def collects_methods_and_functions(match, graph, pattern):
    first, end = min(nodes_of(match)), end_of(match)
    methods = [node for node in graph.nodes if node.op == "call_method" and node.target[-1] == "_"]
    functions = [node for node in graph.nodes if node.op == "call_function" and node.target.__name__[-1] == "_"]
    return {node for node in methods + functions if first < node < end}.issubset(nodes_of(match))


@breaks("after the first node of the match", case="a write inside the match")
@wrong("rejects_matches_across_writes", says="filter accepts the match that ends with `sigmoid`")
def begins_at_the_last_node(match, graph, pattern):
    return not crossed(match, match.returning_nodes[0], end_of(match))


@breaks("The parameters of the pattern are not nodes of the match.", case="writes before and after")
@wrong("rejects_matches_across_writes", says="although no other node writes between `exp` and the first user")
def begins_at_the_input(match, graph, pattern):
    """Counts the values of the parameters as nodes of the match."""
    return not crossed(match, min(match.nodes_map.values()), end_of(match))


@breaks("it calls a method or a function whose name ends with an underscore.", case="a function that writes")
@wrong("rejects_matches_across_writes", says="filter accepts the match that ends with `sigmoid`")
def looks_for_methods_alone(match, graph, pattern):
    first, end = min(nodes_of(match)), end_of(match)
    methods = graph.find_nodes(op="call_method", target="mul_") + graph.find_nodes(op="call_method", target="add_")
    return not any(first < node < end for node in methods)


@breaks("It does not matter which tensor it writes to.", case="a write between the match and its first user")
@wrong("rejects_matches_across_writes", says="filter accepts the match that ends with `sigmoid`")
def looks_at_what_is_written_to(match, graph, pattern):
    """Accepts a write to any tensor but the inputs of the match."""
    first, end = min(nodes_of(match)), end_of(match)
    inputs = match.placeholder_nodes
    between = [node for node in graph.nodes if first < node < end]
    return not any(writes(node) and node.args[0] in inputs for node in between)


@breaks("it calls a method", case="a layer and a weight whose names end with an underscore")
@wrong("rejects_matches_across_writes", says="although no other node writes between `exp` and the first user")
def looks_at_every_target(match, graph, pattern):
    first, end = min(nodes_of(match)), end_of(match)
    between = [node for node in graph.nodes if first < node < end]
    return not any(writes(node) or str(node.target).endswith("_") for node in between)


@breaks("a node that is not in the match", case="a pattern that writes")
@wrong("rejects_matches_across_writes", says="(a pattern that writes): the filter rejects the match that ends with")
def counts_writes_of_the_match(match, graph, pattern):
    first, end = min(nodes_of(match)), end_of(match)
    return not any(first < node < end and writes(node) for node in graph.nodes)


@breaks("before the first user of the result", case="a first user that writes")
@wrong("rejects_matches_across_writes", says="(a first user that writes): the filter rejects the match")
def counts_a_write_by_the_first_user(match, graph, pattern):
    return not crossed(match, min(nodes_of(match)), end_of(match).next)


@breaks("the first user of the result", case="a user moved before the write")
@wrong("rejects_matches_across_writes", says="(a user moved before the write): the filter rejects the match")
def takes_the_first_entry_of_users(match, graph, pattern):
    """``users`` has the order in which nodes began to use the result, not graph order."""
    [result] = match.returning_nodes
    return not crossed(match, min(nodes_of(match)), next(iter(result.users), result))


@breaks("If the result has no users, the new nodes take its place in the list, so", case="results that nothing uses")
@wrong("rejects_matches_across_writes", says="(results that nothing uses): the filter rejects the match")
def looks_up_to_the_output_without_a_user(match, graph, pattern):
    [result] = match.returning_nodes
    return not crossed(match, min(nodes_of(match)), min(result.users, default=graph.output_node()))


@breaks("only a write before the result counts.", case="results that nothing uses")
@wrong("rejects_matches_across_writes", says="(results that nothing uses): the filter accepts the match")
def accepts_results_without_users(match, graph, pattern):
    [result] = match.returning_nodes
    return not result.users or not crossed(match, min(nodes_of(match)), min(result.users))
