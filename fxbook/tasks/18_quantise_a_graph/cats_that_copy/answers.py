"""Answers to 18-cats-that-copy: the calls around a concatenation, and whether their arguments are equal."""

import torch
import torch.ao.quantization.fx._decomposed

from fxbook.tasks.answering import breaks, right, wrong

ops = torch.ops.quantized_decomposed
quantize, dequantize = ops.quantize_per_tensor.default, ops.dequantize_per_tensor.default
concatenate = torch.ops.aten.cat.default


def found(
    module, how=(1, 2, 3, 4, 5), reads=True, users=True, used=True, inputs=True, results=True, targets=(concatenate,)
):
    """The concatenations that can copy int8, with parameters for what a wrong answer leaves out."""
    names = []
    for node in module.graph.nodes:
        if node.target not in targets or (used and not node.users):
            continue
        above = [read for read in node.args[0] if reads or read.target is dequantize]
        below = [user for user in node.users if users or user.target is quantize]
        if any(read.target is not dequantize for read in above) or any(user.target is not quantize for user in below):
            continue
        calls = (above if inputs else above[:1]) + (below if results else [])
        if len({tuple(call.args[i] for i in how) for call in calls}) == 1:
            names.append(node.name)
    return names


@right
def compares_all_arguments_after_the_tensor(module):
    """Returns a tuple instead of a list."""
    cats = []
    for cat in module.graph.find_nodes(op="call_function", target=concatenate):
        around = {dequantize: cat.args[0], quantize: list(cat.users)}
        if all(calls and all(call.target is target for call in calls) for target, calls in around.items()):
            first, *others = [call.args[1:] for calls in around.values() for call in calls]
            if all(other == first for other in others):
                cats.append(cat.name)
    return tuple(cats)


@right
def begins_at_quantize_and_sorts(module):
    names = set()
    for call in module.graph.find_nodes(op="call_function", target=quantize):
        cat, *how = call.args
        if cat.target is concatenate:
            reads = {(read.target, *read.args[1:]) for read in cat.all_input_nodes}
            users = {(user.target, *user.args[1:]) for user in cat.users}
            if reads == {(dequantize, *how)} and users == {(quantize, *how)}:
                names.add(cat.name)
    return [node.name for node in module.graph.nodes if node.name in names]


@right
def removes_what_cannot(module):
    """Removes a concatenation as soon as one of its inputs or users does not qualify."""
    cats = {node: None for node in module.graph.nodes if node.target is concatenate and node.users}
    for cat in list(cats):
        edges = [(read, dequantize) for read in cat.args[0]] + [(user, quantize) for user in cat.users]
        for call, target in edges:
            if call.target is not target:
                cats.pop(cat, None)
            elif cat in cats:
                how = call.args[1:]
                if cats[cat] not in (None, how):
                    del cats[cat]
                else:
                    cats[cat] = how
    return [cat.name for cat in cats]


@right
def fills_a_list_while_it_walks(module):
    """Adds a name after looking at the inputs, and removes the name again if a user does not qualify."""
    how, names = {}, []
    for node in module.graph.nodes:
        if node.target is dequantize:
            how[node] = node.args[1:]
        elif node.target is concatenate:
            kinds = {how.get(read) for read in node.args[0]}
            if len(kinds) == 1 and None not in kinds and len(node.users) > 0:
                how[node] = kinds.pop()
                names.append(node.name)
                continue
        for read in node.all_input_nodes:
            if read.name in names and not (node.target is quantize and node.args[1:] == how[read]):
                names.remove(read.name)
    return names


@breaks(
    "all of these calls have the same scale, zero point, bounds and dtype.", case="concatenations whose inputs differ"
)
@wrong("finds_the_cats", says="do not have the same zero point")
def ignores_the_zero_point(module):
    return found(module, how=(1, 3, 4, 5))


@wrong("finds_the_cats", says="do not have the same upper bound")
def ignores_the_bounds(module):
    return found(module, how=(1, 2, 5))


@wrong("finds_the_cats", says="do not have the same")
def ignores_the_arguments_of_the_users(module):
    return found(module, results=False)


@wrong("finds_the_cats", says="do not have the same")
def compares_only_the_first_input(module):
    return found(module, inputs=False)


@breaks("each tensor in its list is the result of a call to `dequantize`", case="concatenations whose inputs differ")
@wrong("finds_the_cats", says="in its list, is not a call to `dequantize`")
def ignores_float_inputs(module):
    return found(module, reads=False)


@breaks("it has users, and each of them is a call to `quantize`", case="concatenations whose users differ")
@wrong("finds_the_cats", says="is not a call to `quantize`")
def ignores_float_users(module):
    return found(module, users=False)


@wrong("finds_the_cats", says="cannot copy int8: it has no users")
def includes_unused_calls(module):
    return found(module, used=False)


@wrong("finds_the_cats", says="it is not a call to `torch.ops.aten.cat.default`")
def includes_stack(module):
    return found(module, targets=(concatenate, torch.ops.aten.stack.default))


@breaks(
    "Return a list, in graph order, with the name of each call to `torch.ops.aten.cat.default`",
    case="concatenations whose inputs differ",
)
@wrong("keeps_their_order", says="in graph order")
def takes_the_order_of_the_users(module):
    names = found(module)
    return [
        call.args[0].name
        for call in module.graph.find_nodes(op="call_function", target=quantize)
        if call.args[0].name in names
    ]


@wrong("keeps_their_order", says="in graph order")
def sorts_by_name(module):
    return sorted(found(module))


@wrong("finds_the_cats", says="not a list of node names")
def returns_a_set(module):
    return set(found(module))
