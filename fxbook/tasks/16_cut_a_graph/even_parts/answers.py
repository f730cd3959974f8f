"""Answers to 16-even-parts: cut a graph so that the largest part has as few bytes of weights as possible."""

import functools
import itertools

import torch

from fxbook.tasks.answering import breaks, right, wrong


def calls_of(module):
    return [node for node in module.graph.nodes if node.op.startswith("call_")]


def tensors(module, node):
    found = []
    if node.op == "call_module":
        layer = module.get_submodule(node.target)
        found += [*layer.parameters(), *layer.buffers()]
    for arg in node.all_input_nodes:
        if arg.op == "get_attr":
            found.append(functools.reduce(getattr, arg.target.split("."), module))
    return {id(tensor): tensor for tensor in found}


def sizes_of(module):
    """For each call, the bytes of each of its weights."""
    return [{key: t.nbytes for key, t in tensors(module, node).items()} for node in calls_of(module)]


def total(pieces):
    return sum(functools.reduce(lambda a, b: a | b, pieces, {}).values())


def walk(used, limit):
    """Where parts begin if each is filled up to the limit before the next begins; None if a call exceeds the limit."""
    places, inside = [0], {}
    for place, now in enumerate(used):
        if sum(now.values()) > limit:
            return None
        inside = inside | now
        if sum(inside.values()) > limit:
            places.append(place)
            inside = now
    return places


def filled(places, count, length):
    """Where the parts after the first begin: at the given places, and at others until there are ``count`` parts."""
    others = [place for place in range(length) if place not in places]
    return sorted(places + others[: count - len(places)])[1:]


def smallest(used, count):
    """The lowest limit in bytes for which ``count`` parts are enough."""
    low, high = 0, total(used)
    while low < high:
        middle = (low + high) // 2
        found = walk(used, middle)
        low, high = (low, middle) if found and len(found) <= count else (middle + 1, high)
    return low


def named(module, places):
    calls = calls_of(module)
    return [calls[place].name for place in places]


def with_sizes(module, count, used):
    return named(module, filled(walk(used, smallest(used, count)), count, len(used)))


def largest(used, places):
    """The bytes of the largest part, if the parts after the first begin at these places."""
    return max(total(used[a:b]) for a, b in itertools.pairwise([0, *places, len(used)]))


@right
def bisects_the_limit(module, count):
    return with_sizes(module, count, sizes_of(module))


@right
def keeps_a_table(module, count):
    """Dynamic programming: the best cuts for each beginning of the list."""
    used = sizes_of(module)
    n = len(used)
    best = {(1, b): (total(used[:b]), []) for b in range(1, n + 1)}
    for parts in range(2, count + 1):
        for b in range(parts, n + 1):
            before = [(a, *best[parts - 1, a]) for a in range(parts - 1, b)]
            best[parts, b] = min((max(size, total(used[a:b])), [*places, a]) for a, size, places in before)
    return named(module, best[count, n][1])


@right
def tries_all_cuts_at_weights(module, count):
    """Cuts only before calls with weights; if they are too few, adds other calls."""
    used = sizes_of(module)
    worth = [place for place in range(1, len(used)) if used[place]]
    cuts = itertools.combinations(worth, min(count - 1, len(worth)))
    best = min(cuts, key=functools.partial(largest, used))
    return named(module, filled([0, *best], count, len(used)))


@right
def tries_every_cut(module, count):
    used = sizes_of(module)
    cuts = itertools.combinations(range(1, len(used)), count - 1)
    return named(module, min(cuts, key=functools.partial(largest, used)))


@breaks("A weight that is used twice in a part counts once there.", case="one weight in three layers")
@wrong("largest_is_small", says="(one weight in three layers): bytes of weights")
def counts_a_weight_for_each_layer(module, count):
    used = [
        {(node.target if node.op == "call_module" else "", key): size for key, size in now.items()}
        for node, now in zip(calls_of(module), sizes_of(module), strict=True)
    ]
    return with_sizes(module, count, used)


@breaks("into `count` parts", case="one part")
@wrong("begins_parts", says="(one part): the answer has 1 name")
def cuts_at_least_once(module, count):
    return bisects_the_limit(module, max(count, 2))


@breaks("A weight that two parts use counts in both.", case="a layer that is called three times")
@wrong("largest_is_small", says="The largest of")
def counts_a_weight_only_once(module, count):
    used, seen = [], set()
    for now in sizes_of(module):
        used.append({key: size for key, size in now.items() if key not in seen})
        seen |= now.keys()
    return with_sizes(module, count, used)


@breaks("those that a `get_attr` node fetches as an argument.", case="fetched weights")
@wrong("largest_is_small", says="The largest of")
def overlooks_fetched_weights(module, count):
    used = sizes_of(module)
    used = [now if node.op == "call_module" else {} for node, now in zip(calls_of(module), used, strict=True)]
    return with_sizes(module, count, used)


@breaks("as few bytes of weights as possible.", case="a weight in half precision")
@wrong("largest_is_small", says="The largest of")
def counts_elements(module, count):
    used = [{key: t.numel() for key, t in tensors(module, node).items()} for node in calls_of(module)]
    return with_sizes(module, count, used)


@breaks("A part has the parameters and buffers", case="a buffer")
@wrong("largest_is_small", says="The largest of")
def forgets_buffers(module, count):
    used = [
        {key: t.nbytes for key, t in tensors(module, node).items() if isinstance(t, torch.nn.Parameter)}
        for node in calls_of(module)
    ]
    return with_sizes(module, count, used)


@breaks("Return the names of the calls that begin the parts after the first.", case="layers of random widths")
@wrong("begins_parts", says="is in the answer, but calls nothing")
def begins_with_an_input(module, count):
    first = next(iter(module.graph.nodes)).name
    return [first, *bisects_the_limit(module, count)[1:]]


@breaks("in the order of the list.", case="layers of random widths")
@wrong("begins_parts", says="not in the order of the list")
def reverses_the_list(module, count):
    return bisects_the_limit(module, count)[::-1]


@breaks(
    "Return the names of the calls that begin the second part, the third part, and so on",
    case="layers of random widths",
)
@wrong("begins_parts", says="not a list of names")
def returns_places(module, count):
    order = [node.name for node in calls_of(module)]
    return [order.index(name) for name in bisects_the_limit(module, count)]


@breaks("into `count` parts, each with at least one call.", case="more parts than layers")
@wrong("begins_parts", says="(more parts than layers): the names in the answer are not in the order of the list, or")
def fills_up_with_the_first_calls(module, count):
    used = sizes_of(module)
    places = walk(used, smallest(used, count))
    return named(module, sorted([*places[1:], *range(1, count)][: count - 1]))


@wrong("largest_is_small", says="The largest of")
def makes_the_sizes_even(module, count):
    used = sizes_of(module)

    def spread(places):
        sizes = [total(used[a:b]) for a, b in itertools.pairwise([0, *places, len(used)])]
        return max(sizes) - min(sizes)

    return named(module, min(itertools.combinations(range(1, len(used)), count - 1), key=spread))


@breaks("those of a layer that a `call_module` node calls,", case="one weight in three layers")
@wrong("largest_is_small", says="The largest of")
def finds_weights_by_the_beginning_of_their_names(module, count):
    weights = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    used = []
    for node, now in zip(calls_of(module), sizes_of(module), strict=True):
        if node.op == "call_module":
            now |= {id(weight): weight.nbytes for name, weight in weights if name.startswith(node.target)}
        used.append(now)
    return with_sizes(module, count, used)
