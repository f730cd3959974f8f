"""Cut a graph so that its weights are spread evenly."""

from __future__ import annotations

import functools

import torch
from torch import fx

from fxbook.asking import Check
from fxbook.asking.returned import name_of
from fxbook.asking.rule import Found, rule
from fxbook.asking.values import Value
from fxbook.asking.view import CaseView

Weights = dict[int, int]


def weights_of(module: fx.GraphModule, node: fx.Node) -> Weights:
    """The bytes of each parameter and buffer that a call uses, by the identity of the tensor."""
    tensors = []
    if node.op == "call_module":
        layer = module.get_submodule(node.target)
        tensors += [*layer.parameters(), *layer.buffers()]
    for arg in node.all_input_nodes:
        if arg.op == "get_attr":
            path, _, last = arg.target.rpartition(".")
            tensors.append(getattr(module.get_submodule(path), last))
    return {id(tensor): tensor.nbytes for tensor in tensors if isinstance(tensor, torch.Tensor)}


def calls_of(module: fx.GraphModule) -> list[fx.Node]:
    """The nodes that call something."""
    return [node for node in module.graph.nodes if node.op.startswith("call_")]


def largest(used: list[Weights], begins: list[int]) -> int:
    """The bytes of the largest part, where parts begin at these places besides 0."""
    pieces = zip([0, *begins], [*begins, len(used)], strict=True)
    return max(sum({key: size for each in used[a:b] for key, size in each.items()}.values()) for a, b in pieces)


def smallest_largest(used: list[Weights], count: int) -> int:
    """The least number of bytes that the largest of so many parts can have."""

    def fits(limit: int) -> bool:
        parts, inside = 1, {}
        for weights in used:
            if sum(weights.values()) > limit:
                return False
            joined = inside | weights
            if sum(joined.values()) > limit:
                parts, joined = parts + 1, weights
            inside = joined
        # Fewer parts can always be made more: a piece of a part has no more weights than the part.
        return parts <= count

    low, high = 0, sum(functools.reduce(dict.__or__, used, {}).values())
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle + 1, high)
    return low


def _names(value: Value) -> list[str] | None:
    match value:
        case list(items) | {"tuple": list(items)}:
            names = [name for item in items if (name := name_of(item)) is not None]
            return names if len(names) == len(items) else None
    return None


@rule("16_cut_a_graph#tags-keep-each-weight-with-its-part")
def begins_parts(case: CaseView) -> Found:
    """The answer names a call for each part but the first, in the order of the list."""
    module, count = case.arguments
    names, order = _names(case.value), [node.name for node in calls_of(module)]
    if names is None:
        yield None, "The answer is not a list of names."
        return
    if len(names) != count - 1:
        yield None, f"The answer has {len(names)} names: {count} parts need {count - 1} of them."
        return
    for name in names:
        node = case.before.named(name)
        if node is None:
            yield None, f"`{name}` is in the answer, and there is no such node."
            return
        if name not in order:
            yield node, "is in the answer, and calls nothing"
            return
    if order[0] in names:
        yield case.before.named(order[0]), "is the first call, so the first part would have no call"
    places = [order.index(name) for name in names]
    if places != sorted(set(places)):
        yield None, "The names in the answer are not in the order of the list, each once."


@rule("16_cut_a_graph#tags-keep-each-weight-with-its-part")
def largest_is_small(case: CaseView) -> Found:
    """No other cut has a smaller largest part."""
    module, count = case.arguments
    calls = calls_of(module)
    used, order = [weights_of(module, node) for node in calls], [node.name for node in calls]
    begins = [order.index(name) for name in _names(case.value) or []]
    size, least = largest(used, begins), smallest_largest(used, count)
    if size > least:
        yield None, f"The largest part of this cut has {size} bytes of weights, and a smaller number is possible."


CHECK = Check((begins_parts, largest_is_small))
