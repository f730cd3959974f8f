"""Cut a graph into parts so that the largest part has as few bytes of weights as possible."""

from __future__ import annotations

import itertools
import operator

import torch
from torch import fx

from fxbook.cases import Check
from fxbook.rules.returned import instead_of, list_of_names
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

Weights = dict[int, int]


def weights_of(module: fx.GraphModule, node: fx.Node) -> Weights:
    """The bytes of each parameter and buffer that a call uses, by the identity of the tensor."""
    held = [operator.attrgetter(read.target)(module) for read in node.all_input_nodes if read.op == "get_attr"]
    if node.op == "call_module":
        called = module.get_submodule(node.target)
        held.extend(itertools.chain(called.buffers(), called.parameters()))
    return {id(weight): weight.nbytes for weight in held if isinstance(weight, torch.Tensor)}


def calls_of(module: fx.GraphModule) -> list[fx.Node]:
    """The nodes that call something."""
    return [node for node in module.graph.nodes if node.op.startswith("call_")]


def largest(used: list[Weights], begins: list[int]) -> int:
    """The bytes of the largest part, if parts begin at index 0 and at these indices."""
    pieces = zip([0, *begins], [*begins, len(used)], strict=True)
    return max(sum({key: size for each in used[a:b] for key, size in each.items()}.values()) for a, b in pieces)


def smallest_largest(used: list[Weights], count: int) -> int:
    """The minimum size of the largest part in bytes, over all cuts into ``count`` parts."""
    ends = range(1, len(used) + 1)
    sizes = {begin: _sizes(used[begin:]) for begin in range(len(used))}
    # For each end, the smallest possible size of the largest part, if the calls before that end form the parts so far.
    least = {end: sizes[0][end - 1] for end in ends}
    for _ in range(count - 1):
        least = {
            end: min(max(least[begin], sizes[begin][end - begin - 1]) for begin in least if begin < end)
            for end in ends
            if end > min(least)
        }
    return least[len(used)]


def _sizes(used: list[Weights]) -> list[int]:
    """The bytes of the weights of the first call, of the first two calls, and so on."""
    joined: Weights = {}
    return [sum((joined := joined | weights).values()) for weights in used]


@rule
def begins_parts(case: CaseView) -> Found:
    """The answer names a call for each part except the first, in the order of the list."""
    module, count = case.arguments
    names, order = list_of_names(case.value), [node.name for node in calls_of(module)]
    if names is None:
        yield None, instead_of("a list of names", case.value)
        return
    if len(names) != count - 1:
        expected = f"{count} parts need {count - 1}" if count > 1 else "one part needs none"
        yield None, f"The answer has {len(names)} name{'s' * (len(names) != 1)}, but {expected}."
        return
    for name in names:
        node = case.before.named(name)
        if node is None:
            yield None, f"`{name}` is in the answer, but no node has this name."
            return
        if name not in order:
            yield node, "is in the answer, but calls nothing"
            return
    if order[0] in names:
        yield case.before.named(order[0]), "is the first call, so the first part would be empty if another began there"
    places = [order.index(name) for name in names]
    if places != sorted(set(places)):
        yield None, "The names in the answer are not in the order of the list, or a name is repeated."


@rule
def largest_is_small(case: CaseView) -> Found:
    """No other cut has a smaller largest part."""
    module, count = case.arguments
    calls = calls_of(module)
    used, order = [weights_of(module, node) for node in calls], [node.name for node in calls]
    begins = [order.index(name) for name in list_of_names(case.value) or []]
    size, least = largest(used, begins), smallest_largest(used, count)
    if size > least:
        parts = ", ".join(
            f"`{order[a]}` has {largest(used[a:b], [])}"
            if b - a == 1
            else f"`{order[a]}` to `{order[b - 1]}` have {largest(used[a:b], [])}"
            for a, b in zip([0, *begins], [*begins, len(order)], strict=True)
        )
        yield None, f"Bytes of weights: {parts}. The largest of {count} parts has {size}, but {least} is possible."


CHECK = Check((begins_parts, largest_is_small))
